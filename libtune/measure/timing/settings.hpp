// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The detection of changes of the device's speed during a race.
struct drift_settings {
  double threshold = 0.02;  ///< the tolerated change within a block, as a part
  int runs = 4;             ///< of the sentinel, in one visit, where runs differ by 1 % or less
  int repeats = 3;          ///< the most blocks in a row that are measured again
  double largest = 0.15;    ///< a device slower than before by more, as a part, is disturbed
  /// Device time of the sentinel's runs for which a disturbed device is waited for, each time.
  std::chrono::nanoseconds patience = std::chrono::seconds(1);
};

/// The effort of the search for the best. The defaults choose a configuration within 1 % of the
/// true best in at least 99 of 100 searches where runs spread by up to 3 % (bench/racing).
struct race_settings {
  double confidence = 0.99;     ///< of each interval that a decision is taken by
  double indifference = 0.003;  ///< configurations closer than this part are tied
  int screening_runs = 8;       ///< of one configuration, until it has converged
  int block_runs = 24;          ///< about how many between two visits to the sentinel
  int final_runs = 160;         ///< of each finalist at most, beside those of the screening
  /// Once the device has been found disturbed, a block ends after so much device time, too.
  std::chrono::nanoseconds block_time = std::chrono::milliseconds(300);
  std::size_t live = 8;    ///< finalists that are measured in turn, and so kept alive
  drift_settings drift{};  ///< the detection of changes of the device's speed
  /// Device time of one configuration's screening, after which three runs are enough; zero: none.
  std::chrono::nanoseconds screening_time = std::chrono::milliseconds(100);
  /// Device time of the final round, which compares the fewer the longer these take; half as much
  /// again for the winner's time.
  std::chrono::nanoseconds final_time = std::chrono::seconds(10);
};

/// The content of the last cache before global memory when a timed run starts.
enum class cache_state : std::uint8_t {
  warm,  ///< left there by the run before
  cold   ///< nothing of use: a buffer larger than the cache is written before each run
};

/// The effort of measuring one configuration. The warm-up and the first timed run, from which
/// the number of iterations is planned, come on top.
struct measure_settings {
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(100);  ///< of wall-clock time
  int min_iterations = 3;     ///< made even if they take longer than the time limit
  int max_iterations = 1000;  ///< made at most, even if the time limit leaves room for more
  cache_state cache = cache_state::warm;  ///< at the start of each timed run
};

/// The work that stands before and after each run of an operation where it is used, such as the
/// other operations of a sequence. A measure runs it too, so that the caches are as they are there,
/// and leaves it out of the times. What measure::repeat runs, as for energy, includes it.
struct run_neighbours {
  std::function<void()> before{};  ///< enqueues on the queue of the measure; empty: nothing
  std::function<void()> after{};   ///< the same
};

/// When a device counts as warmed up, and how long to try at most.
struct warm_up_settings {
  std::size_t group = 5;    ///< runs that make one median
  std::size_t medians = 4;  ///< medians in a row that have to agree
  double tolerance = 0.01;  ///< the part by which they may differ, beside the effect of chance
  std::chrono::nanoseconds at_least = std::chrono::milliseconds(20);  ///< of wall-clock time
  std::chrono::nanoseconds time_limit = std::chrono::seconds(1);      ///< of wall-clock time
  std::size_t most_runs = 4000;  ///< for very short times, or a clock that stands still
};

}  // namespace tune
