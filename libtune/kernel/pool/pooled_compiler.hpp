// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "libtune/kernel/compiler.hpp"

namespace tune {

class compile_pool;

/// Has programs compiled by workers, and waits for them; where workers cannot, by another compiler.
/// A program that crashed a worker, or took too much time or memory there, is not tried again: it
/// is a build_error that says so.
class pooled_compiler final : public compiler {
 public:
  enum class use_pool : bool {
    always,
    /// If workers run already, or another program is being compiled through this object at the same
    /// time. One program alone is compiled sooner by the process itself.
    when_busy,
  };

  /// @param inner  outlives this
  /// @param pool  outlives this; null: compile_pool::shared()
  explicit pooled_compiler(const compiler& inner, use_pool use = use_pool::always,
                           compile_pool* pool = nullptr) noexcept
      : inner_(inner), pool_(pool), use_(use) {}

 private:
  program do_build(const context& context, const program_source& source) const override;

  const compiler& inner_;
  compile_pool* pool_;
  use_pool use_;
  mutable std::atomic<int> under_way_{0};
};

}  // namespace tune
