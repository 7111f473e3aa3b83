// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include "bench/simulate/read_recording.hpp"
#include "bench/simulate/recording_builder.hpp"

namespace tune {
namespace {

using detail::recorded_member;
using json = detail::input;

/// The text with what closes it, where it is missing: up to the end of the last whole entry.
std::optional<json> parse_unclosed(std::string_view text) {
  constexpr int attempts = 8;  // what is cut off is at most one entry, which holds few braces
  for (int i = 0; i < attempts; ++i) {
    const std::size_t last = text.rfind('}');
    if (last == std::string_view::npos) return std::nullopt;
    json document = json::parse(std::string(text.substr(0, last + 1)) + "}}", nullptr, false);
    if (!document.is_discarded()) return document;
    text = text.substr(0, last);
  }
  return std::nullopt;
}

json parse_cache(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  if (!document.is_discarded()) return document;
  if (auto repaired = parse_unclosed(text)) return std::move(*repaired);
  throw argument_error("a cache file of Kernel Tuner is no JSON, nor the beginning of one");
}

std::vector<parameter> tuned_parameters(const json& document) {
  const auto listed = document.find("tune_params");
  std::vector<parameter> parameters;
  for (const json& name : recorded_member(document, "tune_params_keys")) {
    if (!name.is_string()) throw argument_error("'tune_params_keys' holds what is no name");
    parameter item{name.get<std::string>(), {}};
    if (listed != document.end() && listed->is_object() && listed->contains(item.name)) {
      for (const json& candidate : (*listed)[item.name]) {
        const value wanted = detail::to_value(candidate);
        if (std::ranges::find(item.candidates, wanted) == item.candidates.end()) {
          item.candidates.push_back(wanted);
        }
      }
    }
    parameters.push_back(std::move(item));
  }
  return parameters;
}

std::string failure_of(const json& entry, const std::string& objective) {
  if (const std::string name = detail::text_or_empty(entry, "__error__"); !name.empty()) {
    return name;
  }
  const auto score = entry.find(objective);
  if (score == entry.end() || score->is_null()) return "without " + objective;
  return score->is_string() ? score->get<std::string>() : "";
}

std::vector<double> times_of(const json& entry) {
  std::vector<double> samples;
  const auto times = entry.find("times");
  if (times == entry.end() || !times->is_array()) return samples;
  for (const json& time : *times) {
    if (time.is_number()) samples.push_back(time.get<double>());
  }
  return samples;
}

recording recording_of(const json& entry, const std::string& objective) {
  recording made{.failure = failure_of(entry, objective),
                 .compile_ms = detail::number_or_zero(entry, "compile_time"),
                 .verification_ms = detail::number_or_zero(entry, "verification_time"),
                 .benchmark_ms = detail::number_or_zero(entry, "benchmark_time"),
                 .framework_ms = detail::number_or_zero(entry, "framework_time"),
                 .samples_ms = times_of(entry)};
  if (made.failure.empty()) made.score_ms = detail::number_or_zero(entry, objective.c_str());
  return made;
}

}  // namespace

recorded_space read_kernel_tuner(std::string_view text, std::string name) {
  const json document = parse_cache(text);
  const json& cache = recorded_member(document, "cache");
  if (!cache.is_object()) throw argument_error("'cache' is no object");
  std::string objective = detail::text_or_empty(document, "objective");
  if (objective.empty()) objective = "time";
  detail::recording_builder builder(tuned_parameters(document));
  for (const json& entry : cache) {
    recorded_configuration one;
    for (const parameter& item : builder.parameters()) {
      one.values.push_back(detail::to_value(recorded_member(entry, item.name.c_str())));
    }
    one.result = recording_of(entry, objective);
    builder.add(std::move(one));
  }
  return std::move(builder).build(std::move(name));
}

}  // namespace tune
