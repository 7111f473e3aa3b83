// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// The comparison at the end of a search: metrics that take too long to be measured for every
/// configuration (energy, percentiles of many samples) are measured for the best, all of them in
/// turn.
class search_finals {
 public:
  /// Runs a step with the attempt's kernels ready to run; false if they can no longer run.
  using step_runner = std::function<bool(trial_attempt&, const std::function<void()>&)>;

  /// A configuration in the finals, and its trial so far.
  struct rival {
    trial_attempt* attempt;
    const trial* result;
  };

  /// @param judge  must outlive this
  explicit search_finals(const trial_judge& judge) : judge_(judge) {}

  /// The greatest number of configurations that are compared at once.
  static constexpr std::size_t most = 16;
  /// Like most, if the budget is already used up.
  static constexpr std::size_t most_when_late = 4;

  /// Measures the metrics of the goal for these configurations. Afterwards they count as compared,
  /// even if they fail.
  /// @param tick_error  the relative spread that a coarse timer may add to samples
  void compare(std::span<const rival> rivals, const step_runner& with, double tick_error);

  bool has_compared(std::size_t configuration) const { return compared_.contains(configuration); }
  /// Adds the measurements to a trial of the race: samples, a score of all of them, metrics.
  void complete(trial& of) const;
  /// Returns the winner's index, unless the race alone chooses it: among those compared, or among
  /// those tied in the race.
  /// @param tied  the indices of the tied ones
  std::optional<std::size_t> choose(std::span<const trial> trials,
                                    std::span<const std::size_t> tied, double indifference) const;

 private:
  void take_samples(const rival& of, const step_runner& with, double tick_error);

  const trial_judge& judge_;
  std::unordered_set<std::size_t> compared_;  // by configuration, like those below
  std::unordered_map<std::size_t, std::vector<metric>> metrics_;
  std::unordered_map<std::size_t, std::vector<run_time>> samples_;
};

}  // namespace tune
