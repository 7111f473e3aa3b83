// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/pooled_compiler.hpp"

#include <fmt/format.h>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/kernel/pool/compile_pool.hpp"

namespace tune {
namespace {

class [[nodiscard]] counted {
 public:
  explicit counted(std::atomic<int>& count) noexcept : count_(count), before_(count_++) {}
  ~counted() { --count_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

  bool alone() const noexcept { return before_ == 0; }

 private:
  std::atomic<int>& count_;
  int before_;
};

[[noreturn]] void throw_failure(const context& context, const program_source& source,
                                const compile_result& result) {
  using status = compile_result::status;
  if (result.what != status::build_failed) {
    throw compiler_lost_error(
        fmt::format("'{}' was not compiled: {}", source.name, result.text), result.text,
        result.what == status::timed_out ? compiler_lost_error::cause::timed_out
                                         : compiler_lost_error::cause::crashed);
  }
  const tune::device device = context.device();
  throw build_error(fmt::format("'{}' does not compile for device '{}':\n{}", source.name,
                                device.name(), result.text),
                    result.text);
}

/// Empty if it has to be compiled in this process.
std::optional<program> made_by(compile_pool& pool, const context& context,
                               const program_source& source) {
  const compile_future future = pool.submit(context, source);
  const compile_result& result = future.result();
  if (result.what == compile_result::status::built) {
    try {
      return context.create_program_from_binary(source.name, result.binary);
    } catch (const device_error& failure) {
      if (failure.failure() != device_failure::invalid_binary) throw;
      log(log_level::debug, fmt::format("'{}' is compiled again: {}", source.name, failure.what()));
      return std::nullopt;
    }
  }
  if (result.what != compile_result::status::unavailable) throw_failure(context, source, result);
  log(log_level::debug,
      fmt::format("'{}' is compiled in this process: {}", source.name, result.text));
  return std::nullopt;
}

}  // namespace

program pooled_compiler::do_build(const context& context, const program_source& source) const {
  const counted here(under_way_);
  const auto is_busy = [&] {
    return !here.alone() || (pool_ != nullptr ? pool_->running() > 0 : compile_pool::shared_runs());
  };
  if (use_ == use_pool::when_busy && !is_busy()) return inner_.build(context, source);
  compile_pool& pool = pool_ != nullptr ? *pool_ : compile_pool::shared();
  if (pool.can_compile(context)) {
    if (auto made = made_by(pool, context, source)) return *std::move(made);
  }
  return inner_.build(context, source);
}

}  // namespace tune
