// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sealed {

/// Counts the locks that libtune and the program take on the thread that made it: mutexes and
/// read-write locks, whether somebody else has them or not. Those of other libraries, such as an
/// OpenCL platform, do not count. A program that links it has the C library's functions replaced.
class lock_watch {
 public:
  lock_watch() noexcept : start_(taken_by_this_thread()) {}

  std::size_t count() const noexcept { return taken_by_this_thread() - start_; }

 private:
  static std::size_t taken_by_this_thread() noexcept;

  std::size_t start_;
};

}  // namespace sealed
