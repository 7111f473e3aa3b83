// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <utility>

#include "bench/simulate/read_recording.hpp"
#include "bench/simulate/recording_builder.hpp"

namespace tune {
namespace {

using detail::recorded_member;
using json = detail::input;

/// Milliseconds in the file's unit of time, which has two spellings.
double unit_of(const json& document) {
  const auto metadata = document.find("metadata");
  if (metadata == document.end()) return 1;
  const std::string unit = detail::text_or_empty(*metadata, "timeunit");
  if (unit.empty() || unit == "miliseconds" || unit == "milliseconds" || unit == "ms") return 1;
  if (unit == "seconds" || unit == "s") return 1e3;
  if (unit == "microseconds" || unit == "us") return 1e-3;
  if (unit == "nanoseconds" || unit == "ns") return 1e-6;
  throw argument_error("a T4 file has times in '" + unit + "', which is no unit known here");
}

std::string objective_of(const json& result) {
  const auto listed = result.find("objectives");
  if (listed == result.end() || !listed->is_array() || listed->empty()) return "time";
  return listed->front().is_string() ? listed->front().get<std::string>() : "time";
}

void read_score(const json& result, double unit, recording& into) {
  const std::string invalidity = detail::text_or_empty(result, "invalidity");
  if (!invalidity.empty() && invalidity != "correct") {
    into.failure = invalidity;
    return;
  }
  const std::string objective = objective_of(result);
  for (const json& item : recorded_member(result, "measurements")) {
    if (detail::text_or_empty(item, "name") != objective) continue;
    if (recorded_member(item, "value").is_number()) {
      into.score_ms = item["value"].get<double>() * unit;
    } else {
      into.failure = detail::text_or_empty(item, "value");
    }
  }
  if (!into.score_ms && into.failure.empty()) into.failure = "without " + objective;
}

recording recording_of(const json& result, double unit) {
  const json& times = recorded_member(result, "times");
  recording made{.compile_ms = detail::number_or_zero(times, "compilation") * unit,
                 .verification_ms = detail::number_or_zero(times, "validation") * unit,
                 .benchmark_ms = detail::number_or_zero(times, "benchmark") * unit,
                 .framework_ms = detail::number_or_zero(times, "framework") * unit};
  if (const auto runtimes = times.find("runtimes"); runtimes != times.end()) {
    for (const json& time : *runtimes) {
      if (time.is_number()) made.samples_ms.push_back(time.get<double>() * unit);
    }
  }
  // Older files lack it; it was at least this.
  if (!times.contains("benchmark")) {
    made.benchmark_ms = std::accumulate(made.samples_ms.begin(), made.samples_ms.end(), 0.0);
  }
  read_score(result, unit, made);
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

recorded_space read_t4(std::string_view text, std::string name) {
  const json document = detail::parse(text);
  const json& results = recorded_member(document, "results");
  if (!results.is_array()) throw argument_error("'results' is no array");
  const double unit = unit_of(document);
  detail::recording_builder builder(t4_parameters(results));
  for (const json& result : results) {
    recorded_configuration one;
    for (const parameter& item : builder.parameters()) {
      one.values.push_back(detail::recorded_value(
          recorded_member(recorded_member(result, "configuration"), item.name.c_str())));
    }
    one.result = recording_of(result, unit);
    builder.add(std::move(one));
  }
  return std::move(builder).build(std::move(name));
}

}  // namespace tune
