// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/recording_builder.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

recording_builder::recording_builder(std::vector<parameter> parameters)
    : parameters_(std::move(parameters)) {}

void recording_builder::add(recorded_configuration one) { recorded_.push_back(std::move(one)); }

recorded_space recording_builder::build(std::string name) && {
  std::map<std::string, std::size_t> latest;
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    std::string key;
    for (const value& v : recorded_[i].values) key += canonical_text(v) + ',';
    latest[key] = i;
  }
  std::vector<recorded_configuration> once;
  once.reserve(latest.size());
  for (const auto& [key, i] : latest) once.push_back(std::move(recorded_[i]));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].candidates.empty()) parameters_[i].candidates = occurring(once, i);
  }
  return recorded_space(std::move(name), std::move(parameters_), std::move(once));
}

void set_score(recording& made, std::optional<double> figure, const objective& tuned_for) {
  if (figure && !std::isfinite(*figure)) figure.reset();
  const bool is_usable = figure && (!tuned_for.maximise || *figure > 0);
  if (is_usable) {
    made.score_ms = tuned_for.maximise ? 1 / *figure : *figure;
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
