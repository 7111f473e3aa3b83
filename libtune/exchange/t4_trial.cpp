// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/t4_trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/store/database/field_type.hpp"
#include "libtune/store/database/value_json.hpp"

namespace tune::detail {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view measured = "measured";

// What T4 calls an outcome. The first line with a word of T4 is what that word becomes here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> invalidities{{
    {measured, "correct"},
    {"compile failed", "compile"},
    {"skipped", "constraints"},
    {"over a device limit", "constraints"},
    {"launch failed", "runtime"},
    {"wrong result", "correctness"},
    {"timed out", "timeout"},
}};

std::string_view invalidity_of(std::string_view outcome) {
  const auto* found = std::ranges::find(invalidities, outcome,
                                        &std::pair<std::string_view, std::string_view>::first);
  return found == invalidities.end() ? "runtime" : found->second;
}

std::string_view outcome_of(std::string_view invalidity) {
  const auto* found = std::ranges::find(invalidities, invalidity,
                                        &std::pair<std::string_view, std::string_view>::second);
  if (found == invalidities.end()) refuse_t4(fmt::format("'{}' is no invalidity", invalidity));
  return found->first;
}

// With so many digits what is read and written again is the same.
std::string in_milliseconds(double ns) { return fmt::format("{:.15g}", ns / t4_unit); }

std::string text_json(const json& item) {
  return item.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string measurement(std::string_view name, const std::string& value, std::string_view unit) {
  return fmt::format(R"({{"name": "{}", "value": {}, "unit": "{}"}})", name, value, unit);
}

std::string measurements(const trial_content& trial, std::string_view outcome) {
  const std::string message = text_json(text_of(trial.columns, "message"));
  const std::optional<double> score = trial.score_ns();
  std::vector<std::string> items{
      measurement("time", score ? in_milliseconds(*score) : message, score ? "ms" : "")};
  if (score && message != "\"\"") items.push_back(measurement("message", message, ""));
  if (outcome_of(invalidity_of(outcome)) != outcome) {
    items.push_back(measurement("outcome", text_json(outcome), ""));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string times(const trial_content& trial) {
  const auto preparation = trial.columns.find("preparation_ns");
  const auto* ns = preparation == trial.columns.end()
                       ? nullptr
                       : std::get_if<std::int64_t>(&preparation->second);
  std::string text =
      fmt::format(R"({{"compilation": {}, "framework": 0, "search_algorithm": 0, "validation": 0)",
                  in_milliseconds(ns == nullptr ? 0 : static_cast<double>(*ns)));
  std::vector<std::string> runtimes;
  for (const double sample : trial.samples_ns()) runtimes.push_back(in_milliseconds(sample));
  if (!runtimes.empty()) text += fmt::format(R"(, "runtimes": [{}])", fmt::join(runtimes, ", "));
  return text + "}";
}

std::vector<double> samples_from(const t4_json& times, double unit) {
  std::vector<double> samples;
  if (!times.contains("runtimes")) return samples;
  for (const t4_json& time : times["runtimes"]) {
    if (!time.is_number()) refuse_t4("'runtimes' holds what is no number");
    samples.push_back(time.get<double>() * unit);
  }
  return samples;
}

void read_measurements(const t4_json& list, double unit, column_values& columns) {
  if (!list.is_array()) refuse_t4("'measurements' is no array");
  for (const t4_json& item : list) {
    const std::string name = t4_text_member(item, "name");
    const t4_json& measurement = t4_member(item, "value");
    if (name == "time" && measurement.is_number()) {
      columns["score_ns"] = measurement.get<double>() * unit;
    } else if ((name == "time" || name == "message") && measurement.is_string()) {
      columns["message"] = measurement.get<std::string>();
    } else if (name == "outcome" && measurement.is_string()) {
      columns["outcome"] = measurement.get<std::string>();
    }
  }
}

}  // namespace

void refuse_t4(const std::string& reason) {
  throw argument_error("the file is no T4 file that can be read: " + reason);
}

const t4_json& t4_member(const t4_json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) refuse_t4(fmt::format("there is no '{}' where one is expected", name));
  return *found;
}

std::string t4_text_member(const t4_json& object, const char* name) {
  const t4_json& text = t4_member(object, name);
  if (!text.is_string()) refuse_t4(fmt::format("'{}' is no text", name));
  return text.get<std::string>();
}

std::string t4_result_text(const trial_content& trial, const std::string& timestamp) {
  const std::string outcome = text_of(trial.columns, "outcome");
  const std::string made_at = text_of(trial.columns, "made_at");
  const std::string_view invalidity = invalidity_of(outcome);
  return fmt::format(
      "{{\"timestamp\": {},\n   \"configuration\": {},\n   \"times\": {},\n"
      "   \"invalidity\": \"{}\", \"correctness\": {},\n   \"measurements\": {},\n"
      "   \"objectives\": [\"time\"]}}",
      text_json(made_at.empty() ? timestamp : made_at), to_json_text(trial.configuration),
      times(trial), invalidity, invalidity == "correctness" ? 0 : 1, measurements(trial, outcome));
}

value t4_value(const t4_json& item, std::string_view alternative) {
  const bool any = alternative.empty();
  if (item.is_null()) return {};
  if (item.is_boolean() && (any || alternative == "bool")) return item.get<bool>();
  if (item.is_number_unsigned() && alternative == "unsigned") return item.get<std::uint64_t>();
  if (item.is_number_integer() && (any || alternative == "signed")) {
    return item.get<std::int64_t>();
  }
  if (item.is_number() && (any || alternative == "real")) {
    return item.get<double>();
  }
  if (!item.is_string()) refuse_t4("a configuration holds a value of another type than its field");
  const std::string text = item.get<std::string>();
  if (alternative != "real") return text;
  return std::strtod(text.c_str(), nullptr);  // "nan" and "inf"
}

std::vector<named_value> t4_configuration(const t4_json& object,
                                          const std::vector<field_description>& fields) {
  std::vector<named_value> configuration;
  for (const field_description& field : fields) {
    configuration.push_back({field.name, t4_value(t4_member(object, field.name.c_str()),
                                                  alternative_name(field.type))});
  }
  if (object.size() != fields.size())
    refuse_t4("a configuration has a parameter that no field names");
  return configuration;
}

std::string t4_date(const std::string& timestamp) {
  constexpr std::size_t seconds_end = 19;
  if (timestamp.size() <= seconds_end || !timestamp.ends_with("+00:00")) return timestamp;
  std::string date = timestamp.substr(0, seconds_end) + "Z";
  date[10] = 'T';
  return date;
}

column_values t4_columns(const t4_json& result, double unit) {
  const t4_json& times = t4_member(result, "times");
  if (!times.is_object()) refuse_t4("'times' is no object");
  const t4_json& preparation = t4_member(times, "compilation");
  if (!preparation.is_number()) refuse_t4("'compilation' is no number");
  const double preparation_ns = preparation.get<double>() * unit;
  if (!(std::abs(preparation_ns) < 9e18)) refuse_t4("'compilation' is no duration");
  column_values columns{
      {"outcome", std::string(outcome_of(t4_text_member(result, "invalidity")))},
      {"message", std::string()},
      {"samples_ns", nlohmann::json(samples_from(times, unit)).dump()},
      {"preparation_ns", static_cast<std::int64_t>(std::llround(preparation_ns))},
      {"made_at", t4_date(t4_text_member(result, "timestamp"))},
  };
  read_measurements(t4_member(result, "measurements"), unit, columns);
  if (text_of(columns, "outcome") != measured) columns.erase("score_ns");
  return columns;
}

trial_content t4_trial(const t4_json& result, double unit,
                       const std::vector<field_description>& fields) {
  trial_content trial{.configuration = t4_configuration(t4_member(result, "configuration"), fields),
                      .columns = t4_columns(result, unit)};
  return trial;
}

}  // namespace tune::detail
