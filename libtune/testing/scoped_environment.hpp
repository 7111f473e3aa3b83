// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// Sets an environment variable, or unsets it given a null value, and puts back what was there.
/// Not thread-safe, as the environment is not.
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

}  // namespace tune::testing
