// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "libtune/base/cxx20.hpp"

namespace tune::testing {

/// A clock that moves only when it is told to, so that tests of timing need not wait. Its time
/// points are those of std::chrono::steady_clock: give now() to whatever would ask that clock.
/// Thread-safe.
class fake_clock {
 public:
  /// A point of std::chrono::steady_clock; the clock starts at its epoch.
  using time_point = std::chrono::steady_clock::time_point;

  /// The epoch and every span by which the clock was moved.
  time_point now() const noexcept {
    return time_point(std::chrono::nanoseconds(now_.load(std::memory_order_relaxed)));
  }

  /// Moves the clock on and returns the time before. A negative span leaves it where it is, for a
  /// steady clock never goes back.
  time_point advance(std::chrono::nanoseconds span) noexcept {
    const auto ticks = span.count() > 0 ? span.count() : 0;
    return time_point(std::chrono::nanoseconds(now_.fetch_add(ticks, std::memory_order_relaxed)));
  }

 private:
  std::atomic<std::chrono::nanoseconds::rep> now_{0};
};

}  // namespace tune::testing
