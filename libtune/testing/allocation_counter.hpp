// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// Counts what the thread that made it allocates from then on with operator new, in any form:
///   const allocation_counter counter;
///   queue.enqueue(kernel, range);
///   CHECK(counter.count() == 0);
/// Other threads, and what a C library takes from malloc, are not counted. The program has to link
/// libtune::allocation_counter, which replaces the global operators; it gets along with sanitizers.
class allocation_counter {
 public:
  allocation_counter() noexcept : start_(made_by_this_thread()) {}

  /// Ask it on the thread that made the counter.
  std::size_t count() const noexcept { return made_by_this_thread() - start_; }

 private:
  /// Allocations since the thread began.
  static std::size_t made_by_this_thread() noexcept;

  std::size_t start_;
};

}  // namespace tune::testing
