// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "libtune/measure/drift_monitor.hpp"

namespace tune {

/// How hard to look for the best. The defaults choose a configuration within 1 % of the true best
/// in at least 99 of 100 searches where runs spread by up to 3 % (bench/racing).
struct race_settings {
  double confidence = 0.99;     ///< of each interval that a decision is taken by
  double indifference = 0.003;  ///< what is closer than this part is a tie
  int screening_runs = 8;       ///< of one configuration, until it is settled
  int block_runs = 24;          ///< about how many between two visits to the sentinel
  int final_runs = 160;         ///< of each finalist at most, beside those of the screening
  /// Once the device has been found disturbed, a block ends after so much device time, too.
  std::chrono::nanoseconds block_time = std::chrono::milliseconds(300);
  std::size_t live = 8;  ///< how many finalists are measured in turn, and so kept alive
  drift_settings drift{};
  /// Device time of one configuration's screening, after which three runs are enough; zero: none.
  std::chrono::nanoseconds screening_time = std::chrono::milliseconds(100);
  /// The same for all the finals together, which compare the fewer the longer these take; half as
  /// much again for the winner's time.
  std::chrono::nanoseconds final_time = std::chrono::seconds(10);
};

}  // namespace tune
