// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::testing {

/// Sets an environment variable, or unsets it for a null value, and restores it at the end. Not
/// thread-safe, like the environment itself.
class [[nodiscard]] scoped_environment {
 public:
  /// @param name   of the variable
  /// @param value  null unsets it
  scoped_environment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~scoped_environment() { set(before_ ? before_->c_str() : nullptr); }
  scoped_environment(const scoped_environment&) = delete;
  scoped_environment& operator=(const scoped_environment&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_.c_str(), value, 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

/// Seals the thread that makes it, or the program, during its life. An earlier seal of the same
/// scope ends with it.
class [[nodiscard]] scoped_seal {
 public:
  /// Seals as the options say: by default the calling thread.
  explicit scoped_seal(seal_options options = {.scope = seal_scope::this_thread})
      : scope_(options.scope) {
    seal(options);
  }
  /// Seals the calling thread in this mode.
  explicit scoped_seal(seal_mode mode)
      : scoped_seal({.mode = mode, .scope = seal_scope::this_thread}) {}
  ~scoped_seal() { unseal(scope_); }
  scoped_seal(const scoped_seal&) = delete;
  scoped_seal& operator=(const scoped_seal&) = delete;

 private:
  seal_scope scope_;
};

using detail::test_mode;

/// Sets the mode of autotuners until the end of the scope, then restores the previous one.
/// test_mode::off makes a test behave like an application; give it a database of its own first. The
/// mode applies to the whole process.
class [[nodiscard]] test_mode_guard {
 public:
  /// Sets the mode for all threads.
  explicit test_mode_guard(test_mode mode) noexcept : before_(detail::current_test_mode()) {
    detail::set_test_mode(mode);
  }
  ~test_mode_guard() { detail::set_test_mode(before_); }
  test_mode_guard(const test_mode_guard&) = delete;
  test_mode_guard& operator=(const test_mode_guard&) = delete;

 private:
  test_mode before_;
};

/// A doctest fixture for test programs with a main of their own: autotuners return their test
/// default and use no database. With libtune::testing's main every test has it already.
class autotune_defaults {
 private:
  test_mode_guard guard_{test_mode::defaults};
};

}  // namespace tune::testing
