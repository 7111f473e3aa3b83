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

/// The budget of a search, applied to the clock. The time limit ends a search only once a
/// configuration works, or the failures suggest that none works, so that no search ends without a
/// result merely for lack of time.
class search_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// The number of failed runs that let a search without a result end at its time limit. Skipped
  /// trials take little time, and a space may begin with many of them.
  static constexpr std::size_t enough_failed = 20;
  static constexpr std::size_t enough_skipped = 1000;  ///< the same number for skipped trials

  /// @param spent  the time used before the start
  search_clock(const tuning_budget& budget, const wall_clock& now,
               std::chrono::nanoseconds spent = std::chrono::nanoseconds(0))
      : budget_(budget), now_(now), start_(now() - spent) {}

  time_point now() const { return now_(); }
  std::chrono::nanoseconds elapsed() const { return now_() - start_; }
  std::optional<std::chrono::nanoseconds> left() const;

  /// Returns the reason to begin no more configurations, if any. A tenth of the time is reserved
  /// for comparing the best.
  /// @param begun  the number of configurations so far
  /// @param best   the least cost so far; empty without a working configuration
  /// @param made   the numbers of trials so far
  std::optional<search_end> why_end(std::size_t begun, std::optional<run_time> best,
                                    const trial_list::counts& made) const;
  /// Notes the least device time for the work of a run. It gives the target if the budget asks to
  /// come within a part of it.
  void allow(run_time least) {
    if (!budget_.within) return;
    const run_time target = least * (1 + *budget_.within);
    budget_.target = budget_.target ? std::max(*budget_.target, target) : target;
  }
  /// Returns true if the time is used up, and a configuration works or enough have failed.
  bool is_over(std::optional<run_time> best, const trial_list::counts& made) const;
  /// Returns the latest time of the next check of the clock, with a time limit.
  time_point next_look() const;

 private:
  tuning_budget budget_;
  const wall_clock& now_;
  time_point start_;
};

/// Runs the steps of a search with the device lease, and records its time. One thread uses it.
class search_timing {
 public:
  /// All references must outlive this. @param wait  the longest wait for the device lease
  search_timing(const search_clock& clock, const tuning_subject& subject, const device& device,
                std::span<const std::shared_ptr<observer>> observers,
                std::chrono::milliseconds wait);

  /// Adds the time since the last call to one part of the times.
  /// @param compiling  true if programs are being compiled meanwhile
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
  search_clock::time_point accounted_;  // the end of the time in times_
};

}  // namespace tune
