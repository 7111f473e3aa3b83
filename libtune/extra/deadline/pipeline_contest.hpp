// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/deadline/frame_record.hpp"

namespace tune {

/// The purpose of a pipeline's knobs. A frame is late if its latency exceeds the deadline.
struct pipeline_goal {
  /// The deadline of a frame. Has to be set.
  std::chrono::duration<double> deadline{0};
  /// The largest part of late frames. A configuration with more cannot win.
  double late = 1e-3;
  /// The rate of the input in units per second. 0: the goal is the highest rate that keeps the
  /// deadline; else the least latency at this rate.
  double rate = 0;
  /// The quantile of the latencies to minimise at a given rate; 1 for the longest.
  double quantile = 0.999;
  /// A figure of frame_record to minimise at the given rate, such as "watts", instead of a latency.
  std::string figure{};
};

/// The effort of a contest.
struct contest_settings {
  /// The time of all runs together, as the pipelines report it. A contest may end before.
  std::chrono::duration<double> budget{90};
  /// Configurations whose results differ by less than this part are equal.
  double tolerance = 0.01;
};

/// The standing of a configuration in a contest.
struct contest_standing {
  std::size_t configuration = 0;  ///< its number
  /// The highest rate in time by Lindley's recursion; 0 if it was not predicted.
  double predicted_rate = 0;
  double throughput = 0;   ///< units per second without waiting for input; 0 if it was not measured
  double kept_rate = 0;    ///< the highest rate at which it has kept the deadline; 0: none
  double missed_rate = 0;  ///< the least rate at which it has not; 0: none
  std::size_t frames = 0;  ///< frames of its last test
  std::size_t late = 0;    ///< of these, late ones
  double value = 0;        ///< of its last test: the quantile in seconds, or the figure
  double lower = 0;        ///< the 95 % interval of the value
  double upper = 0;        ///< likewise
  bool failed = false;     ///< it could not be built or run
};

/// The result of a contest.
struct contest_result {
  /// The configurations that were run, the best first. The first is the winner, if there is one.
  std::vector<contest_standing> standings{};
  /// False if no configuration keeps the deadline.
  bool has_winner = false;
  /// The part of late frames that counted as kept. More than that of the goal if even half of the
  /// rate has more late frames than the goal allows, so that the machine and not the configuration
  /// is their cause.
  double late_allowed = 0;
  /// The time of all runs.
  std::chrono::duration<double> spent{0};
};

/// Runs a configuration under a load. Empty if it cannot be built or run.
using pipeline_runner = std::function<std::optional<frame_record>(std::size_t configuration,
                                                                  const pipeline_load& load)>;

/// Finds the best of many configurations of a pipeline by short runs in turn, so that all see the
/// same changes of the machine. It has neither clock nor device: the same records lead to the same
/// runs.
///
/// For the highest rate each configuration runs without waiting for input, and at a rate that
/// leaves room. Both predict its late frames at any rate, by Lindley's recursion. The worse half of
/// the field leaves after each round, until five are left; these run in turn at common rates, with
/// more and more frames, and the highest rate that one keeps is found. At a given rate, the worse
/// half leaves after each round of runs in turn, unless the intervals of the quantiles overlap.
///
/// @param configurations  their numbers; ties are decided by their order
/// @throws argument_error if the goal or the settings contradict themselves, or the list is empty;
///         all that the runner throws
contest_result find_best_pipeline(const pipeline_goal& goal,
                                  const std::vector<std::size_t>& configurations,
                                  const contest_settings& settings, const pipeline_runner& run);

}  // namespace tune
