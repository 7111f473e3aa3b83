// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/context.hpp"
#include "libtune/device/program_source.hpp"

namespace tune {

/// Where programs are compiled. Complete source goes in and a program comes out, so that the work
/// can be done in this process or in another. Implementations are thread-safe.
class compiler {
 public:
  compiler() = default;
  virtual ~compiler() = default;
  compiler(const compiler&) = delete;
  compiler& operator=(const compiler&) = delete;

  /// @throws build_error with the log as the device's compiler wrote it
  program build(const context& context, const program_source& source) const {
    return do_build(context, source);
  }

 private:
  virtual program do_build(const context& context, const program_source& source) const = 0;
};

/// Compiles on the calling thread.
class in_process_compiler final : public compiler {
 private:
  program do_build(const context& context, const program_source& source) const override;
};

}  // namespace tune
