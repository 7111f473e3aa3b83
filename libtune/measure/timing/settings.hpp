// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The detection of changes of the device's speed in a race between configurations.
struct drift_settings {
  double threshold = 0.02;  ///< the tolerated relative change within a block
  int runs = 4;             ///< of the sentinel, in one visit, if runs differ by 1 % or less
  int repeats = 3;          ///< the most consecutive blocks that are measured again
  double largest = 0.15;    ///< a larger relative slowdown of the device is a disturbance
  /// Device time of the sentinel's runs during which a disturbed device is waited for, each time.
  std::chrono::nanoseconds patience = std::chrono::seconds(1);
};

/// The effort of the search for the best. The defaults choose a configuration within 1 % of the
/// true best in at least 99 of 100 searches if runs spread by up to 3 % (bench/racing).
struct race_settings {
  double confidence = 0.99;     ///< of each interval that a decision uses
  double indifference = 0.003;  ///< configurations with a smaller relative difference are tied
  int screening_runs = 8;       ///< of one configuration, until it has converged
  int block_runs = 24;          ///< approximate number of runs between two visits to the sentinel
  int final_runs = 160;         ///< of each finalist at most, besides those of the screening
  /// After a disturbance of the device, a block also ends after this much device time.
  std::chrono::nanoseconds block_time = std::chrono::milliseconds(300);
  std::size_t live = 8;    ///< finalists that are measured in turn, and thus kept in memory
  drift_settings drift{};  ///< the detection of changes of the device's speed
  /// A configuration that takes half as long again as the best, and more than this longer, is
  /// dropped after one run; zero: never, as on a device whose scheduler may take as much time from
  /// a run.
  std::chrono::nanoseconds sure_after{0};
  /// Device time of one configuration's screening, after which three runs are enough; zero: no
  /// limit.
  std::chrono::nanoseconds screening_time = std::chrono::milliseconds(100);
  /// Device time of the final round, which compares fewer finalists if they take longer; half as
  /// much again is for the winner's time.
  std::chrono::nanoseconds final_time = std::chrono::seconds(10);
};

/// The content of the last cache before global memory at the start of a timed run.
enum class cache_state : std::uint8_t {
  warm,  ///< the data of the previous run
  cold   ///< no useful data: a buffer larger than the cache is written before each run
};

/// The effort of measuring one configuration. The warm-up and the first timed run, which determines
/// the number of iterations, come in addition.
struct measure_settings {
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(100);  ///< wall-clock time
  int min_iterations = 3;                 ///< even if they take longer than the time limit
  int max_iterations = 1000;              ///< even if the time limit allows more
  cache_state cache = cache_state::warm;  ///< at the start of each timed run
};

/// The work before and after each run of an operation in its application, such as the other
/// operations of a sequence. A measure runs it too, so that the caches are in the same state, but
/// excludes it from the times. Runs of measure::repeat, as for energy, include it.
struct run_neighbours {
  std::function<void()> before{};  ///< enqueues on the queue of the measure; empty: nothing
  std::function<void()> after{};   ///< the same
};

/// The conditions for a warmed-up device, and limits of the warm-up.
struct warm_up_settings {
  std::size_t group = 5;    ///< runs for one median
  std::size_t medians = 4;  ///< consecutive medians that have to agree
  double tolerance = 0.01;  ///< the allowed relative difference, besides random variation
  std::chrono::nanoseconds at_least = std::chrono::milliseconds(20);  ///< wall-clock time
  std::chrono::nanoseconds time_limit = std::chrono::seconds(1);      ///< wall-clock time
  std::size_t most_runs = 4000;  ///< for very short times, or a clock that does not advance
};

}  // namespace tune
