// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/program_supply.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/kernel/cache/program_digest.hpp"
#include "libtune/kernel/compiler.hpp"

namespace tune {
namespace {

thread_local program_supply::use* current = nullptr;

}  // namespace

program_supply::use::use(const program_supply& supply) noexcept
    : supply_(supply), outer_(std::exchange(current, this)) {}

program_supply::use::~use() { current = outer_; }

program_supply::none::none() noexcept : outer_(std::exchange(current, nullptr)) {}

program_supply::none::~none() { current = outer_; }

std::optional<wanted_program> program_supply::use::take_wanted() noexcept {
  return std::exchange(wanted_, std::nullopt);
}

std::optional<program> program_supply::find(const context& context, const program_source& source) {
  if (current == nullptr) return std::nullopt;
  // Once something is missing, code that went on nevertheless shall not compile the rest.
  if (current->wanted_) throw detail::program_is_wanted{};
  auto digest = program_digest(source);
  if (!digest) return std::nullopt;
  const auto& made = current->supply_.made_;
  const auto found = made.find(*digest);
  if (found == made.end()) {
    current->wanted_ = wanted_program{context, source, *std::move(digest), {}};
    throw detail::program_is_wanted{};
  }
  const supplied_program& supplied = found->second;
  current->last_ = supplied.what;
  ++current->found_;
  if (supplied.what == supplied_program::status::left_over) return std::nullopt;
  if (supplied.what == supplied_program::status::refused) {
    throw build_error(supplied.text, supplied.text);
  }
  if (supplied.what != supplied_program::status::made) {
    throw compiler_lost_error(supplied.text, supplied.text,
                              supplied.what == supplied_program::status::timed_out
                                  ? compiler_lost_error::cause::timed_out
                                  : compiler_lost_error::cause::crashed);
  }
  try {
    return context.create_program_from_binary(source.name, supplied.binary);
  } catch (const device_error& refused) {
    log(log_level::debug,
        fmt::format("the program of '{}' that was compiled ahead is compiled again: {}",
                    source.name, refused.what()));
    return std::nullopt;
  }
}

}  // namespace tune
