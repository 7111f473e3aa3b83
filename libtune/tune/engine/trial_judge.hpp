// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// True for a time that is too short for the declared work: less than half of that at the device's
/// peaks. A kernel that only reads may be faster than a copy, but not by that much.
/// @param least_time  at the peaks, in ns ("least_time" of a trial)
constexpr bool is_impossible(run_time time, double least_time) noexcept {
  return time.count() * 2 < least_time;
}

/// True for the name of a statistic of a trial's samples: mean, min, spread or a percentile (p99).
bool is_statistic(const std::string& name);

/// Computes the metrics of the trials of a search, and compares trials by its goal. For the goal of
/// the least time and without sources, it only divides declared work by the time.
///
/// The first objective is of one of two kinds. An objective with a value for a single sample (time,
/// GFLOP/s, registers, or computed from these) is raced: each sample becomes a cost, less is
/// better. An objective that needs all samples, or is measured of finalists alone, is decided among
/// the finalists, which the race finds by time.
class trial_judge {
 public:
  /// @throws argument_error if two sources compute one metric, or one has no function
  trial_judge(tuning_goal goal, const std::vector<const metric_sources*>& sources);

  /// The judge of searches for the least time without metrics.
  static const trial_judge& by_time();

  const tuning_goal& goal() const noexcept { return goal_; }
  /// True if the first objective is the time: then costs are times.
  bool races_by_time() const noexcept { return !races_cost_; }
  /// True if the winner among the finalists depends on more than the race.
  bool decides_finals() const noexcept { return decides_finals_; }
  /// True if finalists are compared at the end, if only for their figures.
  bool has_finals() const noexcept { return decides_finals_ || compares_; }
  /// True if a goal or a source needs more of the finalists' samples than a race takes.
  bool needs_samples() const noexcept { return needs_samples_; }

  /// Computes the metrics of a trial that has samples.
  void complete(trial& of) const;
  /// Computes the metrics of a trial; a trial with an impossible time, a broken constraint, or a
  /// missing value for one loses its score, so that it never wins.
  /// @param compared  true for a finalist, which has all metrics
  void judge(trial& of, bool compared) const;
  /// The constraint that a configuration breaks before its first run, by its known metrics; empty
  /// without one.
  std::optional<std::string> why_not_run(const trial& of) const {
    return is_plain_ ? std::nullopt : detail::why_unfit(early_goal_, of, true);
  }

  /// True if the goal needs the check of every configuration.
  bool judges_results() const noexcept { return judges_results_; }
  /// True if the goal names a metric of the results' accuracy.
  bool names_accuracy() const noexcept { return !accuracy_.empty(); }
  /// Throws if a checked trial lacks a metric of accuracy that the goal names: then all trials lack
  /// it. @throws common_mistake that names the metric and the remedy
  void require_accuracy(const trial& checked) const;
  /// True if results with other bits than those of a reference do not count. The reference has to
  /// be checked first.
  bool compares_bits() const noexcept { return goal_.same_bits; }
  /// Sets the reference, after its check: the bits of its results, or the reason for their lack.
  void set_reference(const trial& checked) const { reference_ = checked; }
  /// The reason why a checked configuration cannot win for its bits; empty without one.
  std::optional<std::string> why_other_bits(const trial& of) const;

  /// The cost of one sample, in units of its own; the sample itself if the time is raced. NaN if
  /// the metric has no value.
  run_time cost(const trial& of, run_time sample) const;
  /// The cost of a trial that has a score, for strategies.
  run_time cost(const trial& of) const { return cost(of, *of.score); }
  /// The cost of any trial; empty if unknown.
  std::optional<run_time> known_cost(const trial& of) const;

  /// Sorts the best to the front: by the objectives from the given number on, in which trials that
  /// differ by less than the indifference are tied; then by time.
  void rank(std::vector<const trial*>& trials, std::size_t first_objective,
            double indifference) const;

  // Calls of all probes; the text of an exception becomes a part of the trial's reason.
  void before_compile(const trial& of) const;
  void after_compile(trial& of) const;
  void before_runs(const trial& of, int runs) const;
  void after_runs(trial& of, std::span<const run_time> times) const;
  void compare(std::span<const finalist> finalists) const;

 private:
  template <class Call>
  void each_probe(trial* of, const Call& call) const;
  void compute(trial& of, bool one_sample) const;

  tuning_goal goal_;
  tuning_goal early_goal_;  // the part of the goal that can be judged before the finals
  std::vector<computed_metric> computed_;
  std::vector<std::shared_ptr<probe>> probes_;
  std::vector<std::string> statistics_;     // statistics in the goal
  std::vector<std::string> accuracy_;       // metrics in the goal that only checks of results give
  mutable std::optional<trial> reference_;  // for its bits; found at the begin of a search
  bool judges_results_ = false;
  bool is_plain_ = false;  // for the least time, without sources: the times alone decide
  bool races_cost_ = false;
  bool decides_finals_ = false;
  bool compares_ = false;
  bool needs_samples_ = false;
};

}  // namespace tune
