// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// A compiler did not finish, which says nothing about the program.
class compiler_lost_error : public build_error {
 public:
  enum class cause : std::uint8_t {
    crashed,    ///< its process crashed or was killed, for example by the system when memory ran
                ///< out
    timed_out,  ///< it was stopped after it had taken too long
  };

  /// @param reason  a description, which is also the log
  compiler_lost_error(const std::string& text, const std::string& reason, cause why)
      : build_error(text, reason), why_(why) {}

  cause why() const noexcept { return why_; }

 private:
  cause why_;
};

/// Makes a program from complete source, in this process or in another. Implementations are
/// thread-safe.
class compiler {
 public:
  compiler() = default;
  virtual ~compiler() = default;
  compiler(const compiler&) = delete;
  compiler& operator=(const compiler&) = delete;

  /// @throws build_error with the log of the device's compiler, compiler_lost_error
  program build(const context& context, const program_source& source) const {
    return do_build(context, source);
  }

 private:
  virtual program do_build(const context& context, const program_source& source) const = 0;
};

/// Compiles on the calling thread.
class in_process_compiler final : public compiler {
 private:
  program do_build(const context& context, const program_source& source) const override {
    return context.create_program(source);
  }
};

}  // namespace tune
