// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// Counts the allocations of its thread since its construction, with operator new in any form:
///   const allocation_counter counter;
///   queue.enqueue(kernel, range);
///   CHECK(counter.count() == 0);
/// Allocations of other threads, and of a C library by malloc, are not counted. The program must
/// link libtune::allocation_counter, which replaces the global operators; it works with sanitizers.
class allocation_counter {
 public:
  allocation_counter() noexcept : start_(made_by_this_thread()) {}

  /// The number of allocations; to be called on the thread that made the counter.
  std::size_t count() const noexcept { return made_by_this_thread() - start_; }

 private:
  /// The number of allocations since the thread began.
  static std::size_t made_by_this_thread() noexcept;

  std::size_t start_;
};

}  // namespace tune::testing
