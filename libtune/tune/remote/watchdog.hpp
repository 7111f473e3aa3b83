// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/options.hpp"

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
  /// How long there may be no step within a tuning inside another.
  std::chrono::nanoseconds limit_between_steps() const;
};

/// Knows which step is under way, and until when it may be. A tuning inside a step has steps of its
/// own, and stops the clock of that step; so does a wait for others. Between two steps a tuning
/// inside may be as long as a step that compiles. Fed with times, so that it needs none to pass to
/// be tested.
class watchdog {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit watchdog(const watchdog_limits& limits) : limits_(limits) {}

  void begin(search_step step, std::optional<run_time> best, time_point now);
  void end(time_point now);
  /// What is under way begins again: it, or who watches it, did not run for a while.
  void begin_anew(time_point now) noexcept;
  /// Within the step something is compiled on the spot.
  void compiling_begins(time_point now) noexcept { levels_.back().compiling_since = now; }
  void compiling_ends(time_point now) noexcept;
  /// Of a tuning inside; each has its end.
  void begin_inside(time_point now);
  void end_inside(time_point now);
  /// Of a wait that the child bounds itself: only past its limit is it counted.
  void begin_wait(std::chrono::milliseconds limit, time_point now);
  void end_wait(time_point now);
  /// Whatever was under way is not.
  void forget();

  /// The step that is under way, of the innermost tuning that has one; null if there is none.
  const search_step* step() const noexcept;
  /// Whose step that is: 0 for the outermost tuning, 1 for the first inside it.
  std::size_t depth_of_step() const noexcept;
  /// Of what is under way, whether or not it is a step.
  std::chrono::nanoseconds limit() const noexcept;
  std::chrono::nanoseconds elapsed(time_point now) const noexcept;
  bool is_over(time_point now) const noexcept;
  /// When it will be over; empty between the steps of the outermost tuning, unless it waits.
  std::optional<time_point> deadline() const;

 private:
  /// Of a tuning, or of a wait.
  struct level {
    bool is_wait = false;
    std::optional<search_step> step{};
    std::chrono::nanoseconds limit{0};  // for what is under way
    std::chrono::nanoseconds spent{0};  // of it, until since
    time_point since{};                 // later by what was compiled since
    std::optional<time_point> compiling_since{};
  };

  bool is_watched() const noexcept { return levels_.size() > 1 || levels_.back().step; }
  const level* level_of_step() const noexcept;
  void start(std::chrono::nanoseconds limit, time_point now);

  watchdog_limits limits_;
  std::vector<level> levels_{1};
};

}  // namespace tune::detail
