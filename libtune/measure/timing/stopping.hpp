// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The number of runs to average for one sample, so that a coarse timer adds no more than a part to
/// the spread of the samples: with 1 %, 1 if a run is longer than about 40 times the resolution;
/// 128 at most. A single run comes out as one of two neighbouring ticks, and many samples of it
/// have a tick for their median; the mean of some runs lies in between, as it should.
/// @param one_run     the approximate time of one run
/// @param resolution  the tick of the timer; zero or less: exact
/// @param allowed     that part, above zero
int runs_per_sample(run_time one_run, run_time resolution, double allowed = 0.01) noexcept;

/// Decides when to stop measuring one configuration. Fed with numbers only: it has no clock.
///
///   iteration_plan plan(settings, device_time, wall_time);   // of one timed run
///   while (!plan.finished()) {
///     ... measure plan.next_batch() iterations ...
///     plan.add(iterations, wall_time);
///   }
class iteration_plan {
 public:
  /// Plans as many iterations as fit in the time limit, judging by one timed run, of which the
  /// larger time counts, but at least a microsecond; never fewer or more than the settings allow.
  /// Times that are negative or NaN are taken for zero.
  /// @throws argument_error if the settings contradict themselves
  iteration_plan(const measure_settings& settings, run_time device_time, run_time wall_time);

  /// The iterations that will be made, unless they take longer than expected.
  int planned() const noexcept { return planned_; }
  /// The number to make before asking again, at least one; zero once finished.
  int next_batch() const noexcept;

  /// Notes a batch that has been made, and the wall-clock time that it took, all included.
  void add(int iterations, run_time wall_time) noexcept;

  /// True if all planned iterations are done, or the time is used up and the minimum reached.
  bool finished() const noexcept;

 private:
  measure_settings settings_;
  int planned_;
  int done_ = 0;
  run_time spent_{0};
};

/// Detects that a device has warmed up after it idled: its clock rises with the work and then falls
/// with the heat, and only then equal runs take equal times. Fed with numbers only: it has no
/// clock.
class warm_up_detector {
 public:
  /// @throws argument_error if group is zero, medians less than two, or tolerance negative
  explicit warm_up_detector(const warm_up_settings& settings = {});

  /// Notes the times of some runs, and the wall-clock time that they took, all included.
  void add(std::span<const run_time> times, run_time wall_time);

  /// True if the last medians agree and at_least has passed.
  bool converged() const;
  /// True if it has converged or the limits are reached.
  bool finished() const;

  /// The number of runs noted.
  std::size_t runs() const noexcept { return runs_; }

 private:
  warm_up_settings settings_;
  std::vector<run_time> group_;
  std::vector<samples> groups_;  // the last ones
  std::size_t runs_ = 0;
  run_time spent_{0};
};

}  // namespace tune
