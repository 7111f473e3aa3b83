// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "libtune/device/device.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// A search's budget against the clock. The limit of time ends a search once a configuration works,
/// so that none ends without a result for want of time alone, or once so many have failed that
/// probably none works.
class search_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// So many trials that were run and failed let a search without a result end at its limit of
  /// time. Skipped ones take little of it, and a space may begin with many of them.
  static constexpr std::size_t enough_failed = 20;
  static constexpr std::size_t enough_skipped = 1000;  ///< the same of those that were not run

  /// @param spent  of its time, before it starts
  search_clock(const tuning_budget& budget, const wall_clock& now,
               std::chrono::nanoseconds spent = std::chrono::nanoseconds(0))
      : budget_(budget), now_(now), start_(now() - spent) {}

  time_point now() const { return now_(); }
  std::chrono::nanoseconds elapsed() const { return now_() - start_; }
  std::optional<std::chrono::nanoseconds> left() const;

  /// Returns the reason to begin no more configurations, if there is one. A tenth of the time is
  /// kept for comparing the best.
  /// @param begun  the number of configurations so far
  /// @param best   the least cost so far; empty: none works
  /// @param made   the numbers of trials so far
  std::optional<search_end> why_end(std::size_t begun, std::optional<run_time> best,
                                    const trial_list::counts& made) const;
  /// Notes the least time that the device needs for the work of a run, from which the target
  /// follows where the budget asks to come within a part of it.
  void allow(run_time least) {
    if (!budget_.within) return;
    const run_time target = least * (1 + *budget_.within);
    budget_.target = budget_.target ? std::max(*budget_.target, target) : target;
  }
  /// Returns true if all of the time is used up, and a configuration works or enough have failed.
  bool is_over(std::optional<run_time> best, const trial_list::counts& made) const;
  /// Returns the latest moment to look at the clock again, if there is a limit of time.
  time_point next_look() const;

 private:
  tuning_budget budget_;
  const wall_clock& now_;
  time_point start_;
};

/// Runs the steps of a search with the device lease, and accounts its time. One thread uses it.
class search_timing {
 public:
  /// Everything outlives this. @param wait  the longest wait for the device lease
  search_timing(const search_clock& clock, const tuning_subject& subject, const device& device,
                std::span<const std::shared_ptr<observer>> observers,
                std::chrono::milliseconds wait);

  /// Adds the time since the last call to one part of the times.
  /// @param compiling  programs are being compiled meanwhile
  void account(std::chrono::nanoseconds search_times::*part, bool compiling);
  /// Runs a step that uses the device, with the device lease. @throws tuning_stopped_error
  void measuring(const std::function<void()>& step, bool compiling);

  const search_times& times() const noexcept { return times_; }

 private:
  std::chrono::milliseconds longest_wait() const;

  const search_clock& clock_;
  const tuning_subject& subject_;
  const tune::device& device_;
  std::span<const std::shared_ptr<observer>> observers_;
  std::chrono::milliseconds wait_;
  search_times times_;
  search_clock::time_point accounted_;  // until when times_ counts
};

}  // namespace tune
