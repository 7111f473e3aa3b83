// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile_scope.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compiler.hpp"

namespace tune {
namespace {

constinit thread_local compile_scope* innermost_scope = nullptr;

}  // namespace

compile_scope::compile_scope(rules given)
    : rules_(std::move(given)), outer_(std::exchange(innermost_scope, this)) {
  if (outer_ != nullptr && outer_->keeps_no_binaries()) rules_.keeps_no_binaries = true;
}

compile_scope::~compile_scope() { innermost_scope = outer_; }

compile_scope* compile_scope::current() noexcept { return innermost_scope; }

void compile_scope::note_compiled(const context& context, const program_source& source) {
  programs_.back() = watched_digest(context, source);
}

void compile_scope::keep(const program& made) {
  made.impl()->record_launches();
  made_.push_back(made);
}

void compile_scope::note(const context& context, const program_source& source) {
  refused_known_ = false;
  programs_.push_back(watched_digest(context, source));
  if (rules_.refuses_all) {
    throw build_error("'" + source.name + "' is not compiled, only looked at", std::string());
  }
  if (rules_.known_failures == nullptr) return;
  const auto failure = rules_.known_failures->find(programs_.back());
  if (failure == rules_.known_failures->end()) return;
  refused_known_ = true;
  throw build_error(failure->second, failure->second);
}

std::optional<program> compile_scope::find_prebuilt(const context& context,
                                                    const program_source& source) {
  if (rules_.prebuilt == nullptr) return std::nullopt;
  // After a missing program, code that continues nevertheless compiles nothing more.
  if (wanted_) throw detail::program_is_wanted{};
  const prebuilt_program& found = prebuilt(context, source);
  last_status_ = found.what;
  ++found_;
  if (last_status_ == prebuilt_program::status::unavailable) return std::nullopt;
  try {
    return load(context, source, found);
  } catch (const device_error& refused) {
    log(log_level::debug,
        fmt::format("the program of '{}' that was compiled ahead is compiled again: {}",
                    source.name, refused.what()));
    return std::nullopt;
  }
}

const prebuilt_program& compile_scope::prebuilt(const context& context,
                                                const program_source& source) {
  std::string digest = last_includes() ? program_digest(source) : programs_.back();
  if (const auto found = rules_.prebuilt->find(digest); found != rules_.prebuilt->end()) {
    return found->second;
  }
  wanted_program missing{context, source, std::move(digest), {}};
  if (rules_.find_missing) {
    if (const prebuilt_program* const found = rules_.find_missing(missing)) return *found;
  }
  wanted_ = std::move(missing);
  throw detail::program_is_wanted{};
}

program compile_scope::load(const context& context, const program_source& source,
                            const prebuilt_program& prebuilt) const {
  using status = prebuilt_program::status;
  if (prebuilt.what == status::refused) throw build_error(prebuilt.text, prebuilt.text);
  if (prebuilt.what != status::made) {
    throw compiler_lost_error(prebuilt.text, prebuilt.text,
                              prebuilt.what == status::timed_out
                                  ? compiler_lost_error::cause::timed_out
                                  : compiler_lost_error::cause::crashed);
  }
  return context.create_program_from_binary(source.name, prebuilt.binary);
}

}  // namespace tune
