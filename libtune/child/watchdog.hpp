// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/process/child_process.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// The limits of a watchdog: watchdog_settings with all values resolved.
struct watchdog_limits {
  std::chrono::nanoseconds floor = default_trial_time;
  double multiple = 20;
  std::chrono::nanoseconds compile_time = std::chrono::minutes(1);
  /// True if the user has set the floor. Then it limits the author's function too, except during
  /// compilations; otherwise the function may take compile_time more.
  bool floor_is_given = false;

  /// Returns the longest time of a step. @param best  the least time of a run so far, if any
  std::chrono::nanoseconds limit_of(const search_step& step, std::optional<run_time> best) const;
  /// Returns the longest time without a step within a nested tuning.
  std::chrono::nanoseconds limit_between_steps() const;
};

/// The limits that options set.
watchdog_limits limits_of(const tuning_options& options);

/// Tracks the current step and its deadline. A nested tuning has steps of its own, and stops the
/// clock of the outer step; so does a wait for another thread or process. Between two steps a
/// nested tuning may take as long as a step that compiles. The caller passes the time, so that
/// tests need no clock.
class watchdog {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit watchdog(const watchdog_limits& limits) : limits_(limits) {}

  void begin(search_step step, std::optional<run_time> best, time_point now);
  void end(time_point now);
  /// Restarts the clock of the current step or gap: the child or this process did not run for a
  /// while.
  void begin_anew(time_point now) noexcept;
  /// Notes the start of a compilation within the step.
  void compiling_begins(time_point now) noexcept { levels_.back().compiling_since = now; }
  void compiling_ends(time_point now) noexcept;
  /// Notes the start of a nested tuning; each has its end.
  void begin_inside(time_point now);
  void end_inside(time_point now);
  /// Notes the start of a wait that the child limits itself: only the time past that limit counts.
  void begin_wait(std::chrono::milliseconds limit, time_point now);
  void end_wait(time_point now);
  /// Forgets all steps and tunings under way.
  void forget();

  /// Returns the current step, of the innermost tuning that has one; null without one.
  const search_step* step() const noexcept;
  /// Returns the depth of its tuning: 0 for the outermost, 1 for the first inside it.
  std::size_t depth_of_step() const noexcept;
  /// The limit and the elapsed time of the current step or gap.
  std::chrono::nanoseconds limit() const noexcept;
  std::chrono::nanoseconds elapsed(time_point now) const noexcept;
  bool is_over(time_point now) const noexcept;
  /// Returns the current deadline; empty between the steps of the outermost tuning, unless it
  /// waits.
  std::optional<time_point> deadline() const;

 private:
  /// The state of a tuning, or of a wait.
  struct level {
    bool is_wait = false;
    std::optional<search_step> step{};
    std::chrono::nanoseconds limit{0};  // the limit of the current step or gap
    std::chrono::nanoseconds spent{0};  // the used part of limit, until since
    time_point since{};                 // shifted by the compile time since then
    std::optional<time_point> compiling_since{};
  };

  bool is_watched() const noexcept { return levels_.size() > 1 || levels_.back().step; }
  const level* level_of_step() const noexcept;
  void start(std::chrono::nanoseconds limit, time_point now);

  watchdog_limits limits_;
  std::vector<level> levels_{1};
};

/// The number of processes that this machine has killed for lack of memory; empty if the system
/// does not count them.
std::optional<std::uint64_t> count_memory_kills();

/// The outcome of the configuration that a lost child was running.
struct classification {
  tune::outcome outcome = outcome::crashed;
  std::string reason{};
};

/// Classifies a child that the watchdog has ended.
classification classify_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed);

/// True if the child's end may have another cause than the configuration, so that one occurrence
/// proves nothing.
bool may_be_from_outside(const child_process::end& end) noexcept;

/// Classifies a child that has ended by itself, or has lost its end of the socket.
/// @param memory_ran_out  true if the system has meanwhile killed processes for lack of memory
/// @param ended_before    true if a child ended like that before during this configuration
/// @returns empty if the end may have another cause: the configuration is not to blame
std::optional<classification> classify_exit(const search_step& step, const child_process::end& end,
                                            bool memory_ran_out, bool ended_before);

/// Classifies a child that has sent an invalid message.
classification classify_invalid_message(const search_step& step, const std::string& what);

/// Classifies a child that was stopped (SIGSTOP, a debugger).
classification classify_stopped(const search_step& step);

/// Makes the trial of a configuration that was lost with its process.
trial lost_trial(const search_step& step, classification found, std::chrono::nanoseconds elapsed);

}  // namespace tune::detail
