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

/// The comparison at the end of a search: what takes too long to be measured of every configuration
/// (energy, percentiles of many samples) is measured of the best, all of them in turn.
class search_finals {
 public:
  /// Runs a step with the attempt's kernels ready to run; false if they cannot be run any more.
  using step_runner = std::function<bool(trial_attempt&, const std::function<void()>&)>;

  /// A configuration in the finals, and its trial so far.
  struct rival {
    trial_attempt* attempt;
    const trial* result;
  };

  /// @param judge  outlives this
  explicit search_finals(const trial_judge& judge) : judge_(judge) {}

  /// The number of configurations that are compared at a time, at most.
  static constexpr std::size_t most = 16;
  /// The same, where the budget is used up before.
  static constexpr std::size_t most_when_late = 4;

  /// Measures what the goal needs of these. Afterwards they count as compared, also those that
  /// fail.
  /// @param tick_error  the relative spread that a coarse timer may add to samples
  void compare(std::span<const rival> rivals, const step_runner& with, double tick_error);

  bool has_compared(std::size_t configuration) const { return compared_.contains(configuration); }
  /// Adds what was measured to a trial of the race: samples, a score of all of them, metrics.
  void complete(trial& of) const;
  /// Returns the winner's index, where the race alone does not choose it: among those compared, or
  /// among those that the race could not tell apart.
  /// @param tied  the indices of the latter
  std::optional<std::size_t> choose(std::span<const trial> trials,
                                    std::span<const std::size_t> tied, double indifference) const;

 private:
  void take_samples(const rival& of, const step_runner& with, double tick_error);

  const trial_judge& judge_;
  std::unordered_set<std::size_t> compared_;  // by configuration, as those below
  std::unordered_map<std::size_t, std::vector<metric>> metrics_;
  std::unordered_map<std::size_t, std::vector<run_time>> samples_;
};

}  // namespace tune
