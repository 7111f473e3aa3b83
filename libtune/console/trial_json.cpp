// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/trial_json.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

value number_of(run_time time) {
  return std::isfinite(time.count()) ? value(time.count()) : value();
}

value if_measured(const trial& item, run_time time) {
  return item.score ? number_of(time) : value();
}

constexpr std::array<trial_figure, 8> figures{{
    {"score_ns", false,
     [](const trial& item) { return item.score ? number_of(*item.score) : value(); }},
    {"score_lower_ns", false,
     [](const trial& item) { return item.bounds ? number_of(item.bounds->lower) : value(); }},
    {"score_upper_ns", false,
     [](const trial& item) { return item.bounds ? number_of(item.bounds->upper) : value(); }},
    {"spread_ns", true, [](const trial& item) { return if_measured(item, item.samples.spread()); }},
    {"min_ns", true, [](const trial& item) { return if_measured(item, item.samples.min()); }},
    {"mean_ns", true, [](const trial& item) { return if_measured(item, item.samples.mean()); }},
    {"samples", true, [](const trial& item) { return value(std::uint64_t{item.samples.size()}); }},
    {"preparation_ns", false,
     [](const trial& item) { return value(std::int64_t{item.preparation.count()}); }},
}};

}  // namespace

std::span<const trial_figure> trial_figures() noexcept { return figures; }

space_outline outline_of(const std::optional<stored_space>& kept) {
  space_outline outline;
  if (!kept) return outline;
  outline.combinations = kept->combinations;
  outline.configurations = kept->configurations;
  for (const auto& one : kept->removals) outline.removals.push_back({one.name, one.what});
  for (const auto& one : kept->parameters) outline.parameters.push_back({one.name, one.what});
  return outline;
}

json plain_json(const coverage& tried) {
  json steps = json::array();
  for (const coverage_step& step : tried.steps()) {
    steps.push_back({{"reason", step.reason}, {"removed", step.removed}, {"left", step.left}});
  }
  json parameters = json::array();
  for (const parameter_coverage& item : tried.parameters()) {
    json values = json::array();
    for (const value_coverage& one : item.values) {
      values.push_back({{"value", plain_json(one.value)},
                        {"tried", one.tried},
                        {"measured", one.measured},
                        {"best", number_or_null(one.best)},
                        {"ratio", number_or_null(one.ratio)},
                        {"lower", number_or_null(one.lower)},
                        {"upper", number_or_null(one.upper)}});
    }
    parameters.push_back({{"name", item.name},
                          {"share", item.share},
                          {"span", item.span},
                          {"values", std::move(values)}});
  }
  return {{"metric", tried.figure().name},
          {"unit", tried.figure().unit},
          {"combinations", tried.space().combinations},
          {"configurations", tried.space().configurations},
          {"tried", tried.tried()},
          {"measured", tried.measured()},
          {"explained", tried.explained()},
          {"steps", std::move(steps)},
          {"parameters", std::move(parameters)}};
}

json plain_json(const trial& item) {
  json object{{"configuration", plain_json(item.configuration)},
              {"outcome", outcome_name(item.outcome)},
              {"reason", item.reason}};
  for (const trial_figure& figure : figures) {
    if (figure.derived) continue;
    object[figure.name] = plain_json(figure.read(item));
  }
  json samples = json::array();
  for (const run_time time : item.samples.times()) samples.push_back(number_or_null(time.count()));
  object["samples_ns"] = std::move(samples);
  object["metrics"] = metrics_json(item.metrics);
  return object;
}

json metrics_json(const std::vector<metric>& metrics) {
  json object = json::object();
  for (const metric& item : metrics) {
    object[item.name] = {{"value", number_or_null(item.value)}, {"unit", item.unit}};
  }
  return object;
}

}  // namespace tune::detail
