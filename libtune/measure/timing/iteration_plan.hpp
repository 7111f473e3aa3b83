// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/measure/timing/measure_settings.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// When to stop measuring one configuration. Fed with numbers only: it has no clock.
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

  /// The iterations that will be made, unless they take longer than was to be expected.
  int planned() const noexcept { return planned_; }
  /// How many to make before asking again, at least one; zero once finished.
  int next_batch() const noexcept;

  /// Notes a batch that has been made, and the wall-clock time that it took, all included.
  void add(int iterations, run_time wall_time) noexcept;

  /// Whether all planned iterations are done, or the time is used up and the minimum reached.
  bool finished() const noexcept;

 private:
  measure_settings settings_;
  int planned_;
  int done_ = 0;
  run_time spent_{0};
};

}  // namespace tune
