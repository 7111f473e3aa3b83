// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/kernel_tuner_cache.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/python_json.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {
namespace {

using detail::input;

constexpr double ns_per_ms = 1e6;

[[noreturn]] void refuse_cache(const std::string& reason) {
  throw argument_error("the file is no cache file of Kernel Tuner that can be read: " + reason);
}

/// Parses a text after completing missing closing brackets: up to the end of the last whole entry.
std::optional<input> parse_unclosed(std::string_view text) {
  constexpr int attempts = 8;  // at most one entry is cut off, and it has few braces
  for (int i = 0; i < attempts; ++i) {
    const std::size_t last = text.rfind('}');
    if (last == std::string_view::npos) return std::nullopt;
    text = text.substr(0, last + 1);
    input document = detail::parse_python_json(std::string(text) + "}}");
    if (!document.is_discarded()) return document;
    text.remove_suffix(1);
  }
  return std::nullopt;
}

input parse_cache(std::string_view text) {
  input document = detail::parse_python_json(text);
  if (!document.is_discarded()) return document;
  if (auto repaired = parse_unclosed(text)) return std::move(*repaired);
  refuse_cache("it is no JSON, nor the beginning of one");
}

const input& member_in(const input& object, const char* name, std::string_view whose) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) {
    refuse_cache(fmt::format("{} has no '{}'", whose, name));
  }
  return *found;
}

std::string text_in(const input& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_in(const input& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::nullopt : detail::real_in(*found);
}

value value_in(const input& item, const std::string& whose) {
  if (item.is_null()) return {};
  if (auto found = detail::plain_value(item)) return *std::move(found);
  refuse_cache(whose + " has a value that is neither number nor text");
}

std::vector<parameter> parameters_in(const input& document) {
  const auto listed = document.find("tune_params");
  std::vector<parameter> parameters;
  std::set<std::string> names;
  for (const input& name : member_in(document, "tune_params_keys", "it")) {
    if (!name.is_string()) refuse_cache("'tune_params_keys' holds what is no name");
    parameter item{name.get<std::string>(), {}};
    if (!names.insert(item.name).second) {
      refuse_cache("'tune_params_keys' holds '" + item.name + "' twice");
    }
    if (listed != document.end() && listed->is_object() && listed->contains(item.name)) {
      std::set<value> seen;
      for (const input& candidate : (*listed)[item.name]) {
        value wanted = value_in(candidate, "the parameter " + item.name);
        if (seen.insert(wanted).second) item.candidates.push_back(std::move(wanted));
      }
    }
    parameters.push_back(std::move(item));
  }
  return parameters;
}

/// True for the members that are no figures of the kernel, and for the parameters.
bool is_own_member(const std::string& name, const kernel_tuner_cache& cache) {
  static constexpr std::array<std::string_view, 9> own{
      "time",           "times",         "compile_time", "verification_time", "benchmark_time",
      "framework_time", "strategy_time", "timestamp",    "__error__"};
  return std::ranges::find(own, name) != own.end() ||
         std::ranges::find(cache.parameters, name, &parameter::name) != cache.parameters.end();
}

std::vector<metric> metrics_in(const input& from, const kernel_tuner_cache& cache) {
  std::vector<metric> metrics;
  for (const auto& [name, item] : from.items()) {
    const std::optional<double> number = detail::real_in(item);
    if (is_own_member(name, cache) || !number) continue;
    const bool has_unit = name.find('/') != std::string::npos;  // "GFLOP/s"
    set_metric(metrics, {metric_name_for(name), *number, has_unit ? name : ""});
  }
  return metrics;
}

kernel_tuner_entry entry_in(const std::string& name, const input& from,
                            const kernel_tuner_cache& cache) {
  const std::string whose = "the entry '" + name + "'";
  kernel_tuner_entry entry{.name = name,
                           .objective = number_in(from, cache.objective.c_str()),
                           .time = number_in(from, "time"),
                           .failure = text_in(from, "__error__"),
                           .compile_time = number_in(from, "compile_time").value_or(0),
                           .verification_time = number_in(from, "verification_time").value_or(0),
                           .benchmark_time = number_in(from, "benchmark_time").value_or(0),
                           .framework_time = number_in(from, "framework_time").value_or(0),
                           .timestamp = text_in(from, "timestamp"),
                           .metrics = metrics_in(from, cache)};
  for (const parameter& item : cache.parameters) {
    entry.values.push_back(value_in(member_in(from, item.name.c_str(), whose), whose));
  }
  if (entry.failure.empty() && !entry.objective) {
    entry.failure = text_in(from, cache.objective.c_str());
  }
  if (entry.failure.empty() && !entry.objective) entry.failure = "without " + cache.objective;
  if (!entry.failure.empty()) entry.objective.reset();
  if (const auto times = from.find("times"); times != from.end() && times->is_array()) {
    for (const input& time : *times) {
      if (time.is_number()) entry.times.push_back(time.get<double>());
    }
  }
  return entry;
}

bool is_time(double ms) { return std::isfinite(ms * ns_per_ms) && ms > 0; }

std::string outcome_of(const kernel_tuner_entry& entry) {
  if (entry.failure == "CompilationFailedConfig") return "compile failed";
  if (entry.failure == "RuntimeFailedConfig") return "launch failed";
  if (entry.failure == "InvalidConfig") return "skipped";
  if (!entry.failure.empty() && !entry.time) return "failed";
  if (entry.time) return is_time(*entry.time) ? "measured" : "invalid time";
  return entry.objective && std::isfinite(*entry.objective) ? "measured" : "failed";
}

}  // namespace

bool is_kernel_tuner_cache(std::string_view text) {
  return text.find("\"tune_params_keys\"") != std::string_view::npos;
}

kernel_tuner_cache read_kernel_tuner_cache(std::string_view text) {
  const input document = parse_cache(text);
  const input& listed = member_in(document, "cache", "it");
  if (!listed.is_object()) refuse_cache("'cache' is no object");
  kernel_tuner_cache cache{.device_name = text_in(document, "device_name"),
                           .kernel_name = text_in(document, "kernel_name"),
                           .objective = text_in(document, "objective"),
                           .parameters = parameters_in(document)};
  if (document.contains("problem_size")) cache.problem_size = document["problem_size"].dump();
  if (cache.objective.empty()) cache.objective = "time";
  for (const auto& [name, entry] : listed.items()) {
    if (!entry.is_object()) refuse_cache("the entry '" + name + "' is no object");
    cache.entries.push_back(entry_in(name, entry, cache));
  }
  return cache;
}

function_content content_of(const kernel_tuner_cache& cache, const foreign_subject& subject) {
  std::vector<trial_content> trials;
  for (const kernel_tuner_entry& entry : cache.entries) {
    trial_content& trial = trials.emplace_back();
    for (std::size_t i = 0; i < entry.values.size(); ++i) {
      trial.configuration.push_back({cache.parameters[i].name, entry.values[i]});
    }
    detail::json samples = detail::json::array();
    for (const double time : entry.times) {
      if (is_time(time)) samples.push_back(time * ns_per_ms);
    }
    const double preparation = std::clamp(entry.compile_time, 0.0, 1e12) * ns_per_ms;
    trial.columns = {{"outcome", outcome_of(entry)},
                     {"message", entry.failure},
                     {"samples_ns", samples.dump()},
                     {"preparation_ns", static_cast<std::int64_t>(std::llround(preparation))},
                     {"made_at", date_from(entry.timestamp)}};
    if (text_of(trial.columns, "outcome") == "measured" && entry.time) {
      trial.columns["score_ns"] = *entry.time * ns_per_ms;
    }
    if (!entry.metrics.empty()) {
      trial.columns[detail::metrics_column] = detail::metrics_to_json(entry.metrics);
    }
  }
  foreign_subject with_goal = subject;
  if (!with_goal.goal) with_goal.goal = goal_for(cache.objective);
  return content_of(with_goal, std::move(trials));
}

}  // namespace tune
