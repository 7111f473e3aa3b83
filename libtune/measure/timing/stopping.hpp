// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The number of runs to average for one sample, so that a coarse timer adds at most an allowed
/// part to the spread of the samples: with 1 %, one run if it is longer than about 40 times the
/// resolution; 128 at most. A single run gives one of two neighbouring ticks, and the median of
/// many such samples is a tick; the mean of several runs lies in between, as it should.
/// @param one_run     the approximate time of one run
/// @param resolution  the tick of the timer; zero or less: exact
/// @param allowed     the allowed part, above zero
int runs_per_sample(run_time one_run, run_time resolution, double allowed = 0.01) noexcept;

/// Decides when to stop measuring one configuration. It has no clock.
///
///   iteration_plan plan(settings, device_time, wall_time);   // of one timed run
///   while (!plan.finished()) {
///     ... measure plan.next_batch() iterations ...
///     plan.add(iterations, wall_time);
///   }
class iteration_plan {
 public:
  /// Plans as many iterations as fit in the time limit, based on one timed run: the larger of its
  /// times, but at least a microsecond; within the limits of the settings. Negative times and NaN
  /// count as zero.
  /// @throws argument_error if the settings contradict each other
  iteration_plan(const measure_settings& settings, run_time device_time, run_time wall_time);

  /// The planned number of iterations, unless they take longer than expected.
  int planned() const noexcept { return planned_; }
  /// The size of the next batch, at least one; zero when finished.
  int next_batch() const noexcept;

  /// Adds a finished batch, and its wall-clock time, including everything.
  void add(int iterations, run_time wall_time) noexcept;

  /// True if all planned iterations are done, or the time is used up and the minimum reached.
  bool finished() const noexcept;

 private:
  measure_settings settings_;
  int planned_;
  int done_ = 0;
  run_time spent_{0};
};

/// Detects that a device has warmed up after an idle time: its clock first rises with the work and
/// then falls with the heat, and only then do equal runs take equal times. It has no clock.
class warm_up_detector {
 public:
  /// @throws argument_error if group is zero, medians less than two, or tolerance negative
  explicit warm_up_detector(const warm_up_settings& settings = {});

  /// Adds the times of some runs, and their wall-clock time, including everything.
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

/// Returns the settings of a race with the limits of the measurement of one configuration.
race_settings limited_by(race_settings race, const measure_settings& measure);

}  // namespace tune
