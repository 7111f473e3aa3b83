// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// An open file, closed at the end of its life. May be empty.
class file_descriptor {
 public:
  explicit file_descriptor(int number = -1) noexcept : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file_descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

  /// Returns the descriptor without closing it; the caller closes it.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace tune::detail
