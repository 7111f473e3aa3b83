// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>
#include <utility>

#include "libtune/extra/formats/foreign_search.hpp"
#include "libtune/extra/formats/t4_members.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/recording_builder.hpp"

namespace tune {
namespace {

using detail::recorded_member;
using json = detail::input;

constexpr double ns_per_ms = 1e6;

std::string figure_of_file(const json& results) {
  if (results.empty()) return "time";
  const auto listed = results.front().find("objectives");
  if (listed == results.front().end() || !listed->is_array() || listed->empty()) return "time";
  const std::string name = listed->front().is_string() ? listed->front().get<std::string>() : "";
  return name.empty() || detail::t4::is_time_name(name) ? "time" : name;
}

/// The measured figure; for the time of a file without measurements the mean of the runs.
std::optional<double> figure_of(const json& result, double unit, const std::string& metric,
                                recording& into) {
  std::optional<double> found;
  const auto measurements = result.find("measurements");
  if (measurements != result.end() && measurements->is_array()) {
    for (const json& item : *measurements) {
      const std::string name = detail::text_or_empty(item, "name");
      const bool is_time = detail::t4::is_time_name(name);
      if (metric != (is_time ? "time" : metric_name_for(name))) continue;
      found = detail::real_in(recorded_member(item, "value"));
      if (found && is_time) *found *= unit;
      if (!found) into.failure = detail::text_or_empty(item, "value");
    }
  }
  if (found || !into.failure.empty() || metric != "time" || into.samples_ms.empty()) return found;
  const double sum = std::accumulate(into.samples_ms.begin(), into.samples_ms.end(), 0.0);
  return sum / static_cast<double>(into.samples_ms.size());
}

void read_score(const json& result, double unit, const objective& tuned_for, recording& into) {
  const std::string invalidity = detail::text_or_empty(result, "invalidity");
  if (!invalidity.empty() && invalidity != "correct") {
    into.failure = invalidity;
    return;
  }
  detail::set_figure(into, figure_of(result, unit, tuned_for.metric, into), tuned_for);
}

/// Kernel Tuner's name for the time, or the schema's.
double compilation_in(const json& times) {
  const char* const name = times.contains("compilation") ? "compilation" : "compilation_time";
  return detail::number_or_zero(times, name);
}

recording t4_recording(const json& result, double unit, const objective& tuned_for) {
  const json& times = recorded_member(result, "times");
  recording made{.compile_ms = compilation_in(times) * unit,
                 .verification_ms = detail::number_or_zero(times, "validation") * unit,
                 .benchmark_ms = detail::number_or_zero(times, "benchmark") * unit,
                 .framework_ms = detail::number_or_zero(times, "framework") * unit};
  const auto runtimes = times.find("runtimes");
  if (runtimes != times.end() && runtimes->is_array()) {
    for (const json& time : *runtimes) {
      const auto ms = detail::real_in(time);
      if (ms && std::isfinite(*ms)) made.samples_ms.push_back(*ms * unit);
    }
  }
  // Older files lack it; it was at least this.
  if (!times.contains("benchmark")) {
    made.benchmark_ms = std::accumulate(made.samples_ms.begin(), made.samples_ms.end(), 0.0);
  }
  read_score(result, unit, tuned_for, made);
  return made;
}

/// Returns the parameters in the order of their names.
std::vector<parameter> t4_parameters(const json& results) {
  std::vector<parameter> parameters;
  if (results.empty()) return parameters;
  for (const auto& [name, ignored] : recorded_member(results.front(), "configuration").items()) {
    parameters.push_back({name, {}});
  }
  return parameters;
}

}  // namespace

recorded_space read_t4(std::string_view text, std::string name,
                       const std::optional<objective>& tuned_for) {
  const json document = detail::parse(text);
  const json& results = recorded_member(document, "results");
  if (!results.is_array()) throw argument_error("'results' is no array");
  const double unit = detail::t4::unit_of(document) / ns_per_ms;
  const objective goal = detail::objective_of(figure_of_file(results), tuned_for);
  detail::recording_builder builder(t4_parameters(results));
  for (const json& result : results) {
    recorded_configuration one;
    for (const parameter& item : builder.parameters()) {
      one.values.push_back(detail::recorded_value(
          recorded_member(recorded_member(result, "configuration"), item.name.c_str())));
    }
    one.result = t4_recording(result, unit, goal);
    builder.add(std::move(one));
  }
  return std::move(builder).build(std::move(name), goal);
}

}  // namespace tune
