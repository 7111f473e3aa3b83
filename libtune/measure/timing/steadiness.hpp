// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// When a device counts as warmed up, and how long to try at most.
struct steadiness_settings {
  std::size_t group = 5;    ///< so many runs make one median
  std::size_t medians = 4;  ///< so many in a row have to agree
  double tolerance = 0.01;  ///< what they may differ, as a part, beside what chance makes of them
  std::chrono::nanoseconds at_least = std::chrono::milliseconds(20);  ///< of wall-clock time
  std::chrono::nanoseconds time_limit = std::chrono::seconds(1);      ///< of wall-clock time
  std::size_t most_runs = 4000;  ///< for who measures so short a time, or has a clock that stands
};

/// When a device that idled has warmed up: its clock rises with the work and then falls with the
/// heat, and runs take the same only after that. Fed with numbers only: it has no clock.
class steadiness {
 public:
  /// @throws argument_error if group is zero, medians less than two, or tolerance negative
  explicit steadiness(const steadiness_settings& settings = {});

  /// Notes the times of some runs, and the wall-clock time that they took, all included.
  void add(std::span<const run_time> times, run_time wall_time);

  /// Whether the last medians agree, and it has worked for at_least.
  bool steady() const;
  /// Whether it is steady or the time is up.
  bool finished() const;

  /// How many runs have been noted.
  std::size_t runs() const noexcept { return runs_; }

 private:
  steadiness_settings settings_;
  std::vector<run_time> group_;
  std::vector<samples> groups_;  // the last ones
  std::size_t runs_ = 0;
  run_time spent_{0};
};

}  // namespace tune
