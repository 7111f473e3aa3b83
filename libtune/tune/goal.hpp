// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/tune/trial.hpp"

namespace tune {

/// A metric to make as small, or as large, as possible.
struct objective {
  std::string metric = "time";  ///< its name
  bool maximise = false;        ///< else it is minimised

  /// True if all is equal.
  friend bool operator==(const objective&, const objective&) = default;
};

/// A bound of a metric. A configuration that breaks it cannot win.
struct constraint {
  std::string metric{};   ///< its name
  double bound = 0;       ///< the bound in the metric's unit; times in nanoseconds
  bool at_least = false;  ///< else at most

  /// True if all is equal.
  friend bool operator==(const constraint&, const constraint&) = default;
};

/// The goal of a search. The winner is the best by the first objective among the configurations
/// that keep all constraints; of tied ones, the best by the next objective, and so on. Without
/// objectives it is the least time.
///
/// The goal is a part of a result: a result of one goal is never returned for another goal.
struct tuning_goal {
  std::vector<objective> objectives{};    ///< the most important first, no metric twice
  std::vector<constraint> constraints{};  ///< all have to be kept
  /// True if a configuration cannot win whose results have other bits than those of the test
  /// default. The author's function has to measure on a workload
  /// (make_measure), or the bits are unknown.
  bool same_bits = false;

  /// True for the default: the least time, without other objectives and constraints.
  bool is_time() const noexcept {
    if (!constraints.empty() || same_bits || objectives.size() > 1) return false;
    return objectives.empty() || objectives.front() == objective{};
  }

  /// True if both have the same objectives and constraints in the same order.
  friend bool operator==(const tuning_goal&, const tuning_goal&) = default;
};

/// An objective: the least value of a metric.
inline objective minimise(std::string metric) { return {std::move(metric), false}; }
/// An objective: the greatest value of a metric.
inline objective maximise(std::string metric) { return {std::move(metric), true}; }
/// A constraint: the metric has at most this value.
inline constraint at_most(std::string metric, double bound) {
  return {std::move(metric), bound, false};
}
/// A constraint: the metric has at least this value.
inline constraint at_least(std::string metric, double bound) {
  return {std::move(metric), bound, true};
}

/// Parses a goal as LIBTUNE_OBJECTIVE takes it: objectives and constraints separated by commas,
/// "max gflops, min energy, power <= 100, time <= 85 us". A bound of a time may have a unit (ns,
/// us, ms, s), one of "snr" dB. The words "same bits" set that member. Empty for any other text,
/// and for a metric that is an objective twice.
std::optional<tuning_goal> goal_from_text(std::string_view text);

/// Returns a goal in the words that goal_from_text reads: "min time" for the default.
std::string to_string(const tuning_goal& goal);

namespace detail {

/// Returns the name under which results of a goal are stored: the function's own name for the
/// default goal, else followed by ".." and the goal as an identifier:
/// "multiply.autotune..min_energy.power_le_100".
/// @throws argument_error if the goal names an invalid metric
std::string name_with_goal(const std::string& function, const tuning_goal& goal);
/// Returns the function's own name, and the goal, of the name of stored results.
std::pair<std::string, tuning_goal> split_name(std::string_view stored);

/// True if the goal judges trials by their results: by their bits, or by a metric of their accuracy
/// (is_accuracy_metric). Each configuration is then checked, whatever tuning_options::verify says.
bool judges_results(const tuning_goal& goal);

/// Returns a cost above zero that grows with a minimised value and falls with a maximised one, in
/// proportion if the value is above zero. NaN for NaN.
double cost_of(const objective& of, double value) noexcept;

/// Returns the constraint that a trial breaks, or the metric that has no value, in words; empty if
/// it keeps all. @param known_only  ignores metrics that have no value
std::optional<std::string> why_unfit(const tuning_goal& goal, const trial& of, bool known_only);

}  // namespace detail

/// Returns the indices of the configurations that no other one dominates: no other is at least as
/// good by every objective and better by one. In the order of the first objective.
/// @param goal            its objectives count, its constraints do not
/// @param configurations  their number
/// @param value           the value of the i-th one by a metric; one with NaN is left out
std::vector<std::size_t> pareto_front(
    const tuning_goal& goal, std::size_t configurations,
    const std::function<double(std::size_t, const std::string&)>& value);
/// Like the above for trials; those without a time are left out.
std::vector<std::size_t> pareto_front(const tuning_goal& goal, std::span<const trial> trials);

}  // namespace tune
