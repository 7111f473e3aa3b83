// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include "libtune/measure/measure.hpp"

namespace tune::detail {

/// The time for which searches have held up the threads of an application: the time during which at
/// least one of its threads was in a search. Thread-safe.
class held_up_time {
 public:
  explicit held_up_time(wall_clock now) : now_(std::move(now)) {}

  /// Counts the time from its construction to its destruction.
  class [[nodiscard]] interval {
   public:
    /// @param of  outlives this
    explicit interval(held_up_time& of);
    ~interval();
    interval(const interval&) = delete;
    interval& operator=(const interval&) = delete;

   private:
    held_up_time& of_;
  };

  /// The time so far, with that of searches under way.
  std::chrono::nanoseconds total() const;

 private:
  wall_clock now_;
  mutable std::mutex mutex_;
  std::size_t intervals_ = 0;  // under way
  std::chrono::steady_clock::time_point begin_{};
  std::chrono::nanoseconds ended_{0};
};

/// The time of this process, by the clock of the host.
held_up_time& held_up();

/// The time that one search may take of a total: a quarter of the rest, because the number of
/// keys that follow is unknown, and at least a twentieth of the total, so that the time is used up
/// by a number of searches. Empty once the total is used up.
std::optional<std::chrono::nanoseconds> part_of_total(std::chrono::nanoseconds total,
                                                      std::chrono::nanoseconds used);

}  // namespace tune::detail
