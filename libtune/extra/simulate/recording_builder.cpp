// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/recording_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "libtune/extra/formats/foreign_search.hpp"

namespace tune::detail {
namespace {

std::vector<value> occurring(const std::vector<recorded_configuration>& recorded, std::size_t at) {
  std::vector<value> found;
  for (const auto& item : recorded) {
    if (std::ranges::find(found, item.values[at]) == found.end()) found.push_back(item.values[at]);
  }
  const bool numbers = std::ranges::none_of(
      found, [](const value& v) { return std::holds_alternative<std::string>(v); });
  // All are of one kind, as in every file that names its parameters.
  if (numbers) std::ranges::sort(found);
  return found;
}

void make_scores(std::vector<recorded_configuration>& recorded, const objective& tuned_for) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const recorded_configuration& each : recorded) {
    if (!each.result.score_ms) continue;
    least = std::min(least, *each.result.score_ms);
    most = std::max(most, *each.result.score_ms);
  }
  const bool is_shifted =
      tuned_for.metric != "time" && (tuned_for.maximise ? least <= 0 : least < 0);
  if (!is_shifted && !tuned_for.maximise) return;
  for (recorded_configuration& each : recorded) {
    if (!each.result.score_ms) continue;
    double& figure = *each.result.score_ms;
    const double from_best = tuned_for.maximise ? most - figure : figure - least;
    figure = is_shifted ? from_best + (most - least) : 1 / figure;
  }
}

}  // namespace

recording_builder::recording_builder(std::vector<parameter> parameters)
    : parameters_(std::move(parameters)) {}

void recording_builder::add(recorded_configuration one) { recorded_.push_back(std::move(one)); }

recorded_space recording_builder::build(std::string name, const objective& tuned_for) && {
  std::map<std::string, std::size_t> latest;
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    std::string key;
    for (const value& v : recorded_[i].values) key += canonical_text(v) + ',';
    latest[key] = i;
  }
  std::vector<recorded_configuration> once;
  once.reserve(latest.size());
  for (const auto& [key, i] : latest) once.push_back(std::move(recorded_[i]));
  make_scores(once, tuned_for);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].candidates.empty()) parameters_[i].candidates = occurring(once, i);
  }
  return recorded_space(std::move(name), std::move(parameters_), std::move(once));
}

void set_figure(recording& made, std::optional<double> figure, const objective& tuned_for) {
  if (figure && std::isfinite(*figure)) {
    made.score_ms = figure;
  } else if (made.failure.empty()) {
    made.failure = "without " + tuned_for.metric;
  }
}

objective objective_of(const std::string& figure, const std::optional<objective>& given) {
  if (given) return *given;
  const tuning_goal goal = goal_for(figure);
  return goal.objectives.empty() ? objective{} : goal.objectives.front();
}

}  // namespace tune::detail
