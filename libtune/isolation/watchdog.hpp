// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>

#include "libtune/tune/options.hpp"
#include "libtune/tune/search_guard.hpp"

namespace tune::detail {

/// What a watchdog allows: watchdog_settings with everything resolved.
struct watchdog_limits {
  std::chrono::nanoseconds floor = default_trial_time;
  double multiple = 20;
  std::chrono::nanoseconds compile_time = std::chrono::minutes(1);
  /// Whether somebody has said what the floor is. Then it holds for the author's function too, but
  /// for the time in which that compiles; else the function may take as much longer.
  bool floor_is_given = false;

  /// How long a step may take. @param best  the least time of a run so far, if there is one
  std::chrono::nanoseconds limit_of(const search_step& step, std::optional<run_time> best) const;
};

/// Knows which step is under way, and until when it may be. Fed with times, so that it needs none
/// to pass to be tested.
class watchdog {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit watchdog(const watchdog_limits& limits) : limits_(limits) {}

  void begin(search_step step, std::optional<run_time> best, time_point now);
  void end() noexcept { step_.reset(); }
  /// The step begins again: it, or who watches it, did not run for a while.
  void begin_anew(time_point now) noexcept;
  /// Within the step something is compiled on the spot.
  void compiling_begins(time_point now) noexcept { compiling_since_ = now; }
  void compiling_ends(time_point now) noexcept;

  /// The step that is under way; null between steps.
  const search_step* step() const noexcept { return step_ ? &*step_ : nullptr; }
  std::chrono::nanoseconds limit() const noexcept;
  std::chrono::nanoseconds elapsed(time_point now) const noexcept { return now - begin_; }
  bool is_over(time_point now) const noexcept { return step_ && elapsed(now) >= limit(); }
  /// When the step will be over; empty between steps.
  std::optional<time_point> deadline() const;

 private:
  watchdog_limits limits_;
  std::optional<search_step> step_;
  std::chrono::nanoseconds limit_{0};
  time_point begin_;  // later by what was compiled since
  std::optional<time_point> compiling_since_;
};

}  // namespace tune::detail
