// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t4.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/python_json.hpp"
#include "libtune/extra/formats/t4_members.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/goal.hpp"

namespace tune {
namespace {

using detail::input;
using detail::json_text;
using detail::plain_json;
using namespace detail::t4;

// With this many digits, writing and reading returns the same number.
std::string in_milliseconds(double ns) { return fmt::format("{:.15g}", ns / written_unit); }

std::string measurement(std::string_view name, const std::string& value, std::string_view unit) {
  return fmt::format(R"({{"name": "{}", "value": {}, "unit": "{}"}})", name, value, unit);
}

/// A number; a text where it is unknown, because the schema knows no null.
detail::json metric_value_of(const metric& item) {
  return std::isfinite(item.value) ? detail::json(item.value) : detail::json("nan");
}

std::string measurements(const trial_content& trial, std::string_view outcome) {
  const std::string message = json_text(text_of(trial.columns, "message"));
  const std::optional<double> score = trial.score_ns();
  std::vector<std::string> items{
      measurement("time", score ? in_milliseconds(*score) : message, score ? "ms" : "")};
  if (score && message != "\"\"") items.push_back(measurement("message", message, ""));
  if (outcome_of(invalidity_of(outcome)) != outcome) {
    items.push_back(measurement("outcome", json_text(outcome), ""));
  }
  for (const metric& item : trial.metrics()) {
    items.push_back(
        json_text({{"name", item.name}, {"value", metric_value_of(item)}, {"unit", item.unit}}));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string times(const trial_content& trial) {
  const auto preparation = trial.columns.find("preparation_ns");
  const auto* ns = preparation == trial.columns.end()
                       ? nullptr
                       : std::get_if<std::int64_t>(&preparation->second);
  std::string text =
      fmt::format(R"({{"compilation": {0}, "compilation_time": {0}, "framework": 0, )"
                  R"("search_algorithm": 0, "validation": 0)",
                  in_milliseconds(ns == nullptr ? 0 : static_cast<double>(*ns)));
  std::vector<std::string> runtimes;
  for (const double sample : trial.samples_ns()) runtimes.push_back(in_milliseconds(sample));
  if (!runtimes.empty()) text += fmt::format(R"(, "runtimes": [{}])", fmt::join(runtimes, ", "));
  return text + "}";
}

void read_measurements(const input& list, double unit, column_values& columns) {
  if (!list.is_array()) refuse_t4("'measurements' is no array");
  std::vector<metric> metrics;
  for (const input& item : list) {
    const std::string name = text_member(item, "name");
    const input& measurement = member_of(item, "value");
    if (name == "time" && measurement.is_number()) {
      columns["score_ns"] = measurement.get<double>() * unit;
    } else if ((name == "time" || name == "message") && measurement.is_string()) {
      columns["message"] = measurement.get<std::string>();
    } else if (name == "outcome" && measurement.is_string()) {
      columns["outcome"] = measurement.get<std::string>();
    } else if (const auto number = detail::real_in(measurement); number || measurement.is_null()) {
      metrics.push_back({.name = name,
                         .value = number.value_or(std::numeric_limits<double>::quiet_NaN()),
                         .unit = item.contains("unit") ? text_member(item, "unit") : ""});
    }
  }
  if (!metrics.empty()) columns[detail::metrics_column] = detail::metrics_to_json(metrics);
}

/// The names of the objectives, as a JSON array.
std::string objectives_of(const function_identity& function) {
  std::vector<std::string> names;
  for (const objective& item : detail::split_name(function.name).second.objectives) {
    names.push_back(json_text(item.metric));
  }
  return names.empty() ? "[\"time\"]" : fmt::format("[{}]", fmt::join(names, ", "));
}

std::string result_text(const trial_content& trial, const std::string& timestamp,
                        const std::string& objectives) {
  const std::string outcome = text_of(trial.columns, "outcome");
  const std::string made_at = text_of(trial.columns, "made_at");
  const std::string_view invalidity = invalidity_of(outcome);
  return fmt::format(
      "{{\"timestamp\": {},\n   \"configuration\": {},\n   \"times\": {},\n"
      "   \"invalidity\": \"{}\", \"correctness\": {},\n   \"measurements\": {},\n"
      "   \"objectives\": {}}}",
      json_text(made_at.empty() ? timestamp : made_at), json_text(plain_json(trial.configuration)),
      times(trial), invalidity, invalidity == "correctness" ? 0 : 1, measurements(trial, outcome),
      objectives);
}

std::vector<named_value> configuration_from(const input& object,
                                            const std::vector<field_description>& fields) {
  std::vector<named_value> configuration;
  for (const field_description& field : fields) {
    configuration.push_back({field.name, value_from(member_of(object, field.name.c_str()),
                                                    detail::kind_of(field.type))});
  }
  if (object.size() != fields.size())
    refuse_t4("a configuration has a parameter that no field names");
  return configuration;
}

column_values columns_from(const input& result, double unit) {
  const input& times = member_of(result, "times");
  if (!times.is_object()) refuse_t4("'times' is no object");
  const input& preparation = member_of(times, "compilation");
  if (!preparation.is_number()) refuse_t4("'compilation' is no number");
  const double preparation_ns = preparation.get<double>() * unit;
  if (!(std::abs(preparation_ns) < 9e18)) refuse_t4("'compilation' is no duration");
  column_values columns{
      {"outcome", std::string(outcome_of(text_member(result, "invalidity")))},
      {"message", std::string()},
      {"samples_ns", input(samples_from(times, unit)).dump()},
      {"preparation_ns", static_cast<std::int64_t>(std::llround(preparation_ns))},
      {"made_at", date_from(text_member(result, "timestamp"))},
  };
  read_measurements(member_of(result, "measurements"), unit, columns);
  if (text_of(columns, "outcome") != measured) columns.erase("score_ns");
  return columns;
}

trial_content trial_from(const input& result, double unit,
                         const std::vector<field_description>& fields) {
  trial_content trial{
      .configuration = configuration_from(member_of(result, "configuration"), fields),
      .columns = columns_from(result, unit)};
  return trial;
}

std::vector<trial_content> trials_from(const input& document,
                                       const std::vector<field_description>& fields) {
  std::vector<trial_content> trials;
  for (const input& result : document["results"]) {
    trials.push_back(trial_from(result, written_unit, fields));
  }
  return trials;
}

/// The properties of a search without its trials.
function_content outline_of(const function_content& one) {
  function_content outline = one;
  search_content& search = outline.searches.at(0);
  search.trials.clear();
  const column_values of_key = search_columns({}, {});
  std::erase_if(search.columns, [&](const auto& column) {
    return !of_key.contains(column.first) && column.first != "started_at" &&
           column.first != "finished_at" && column.first != "result";
  });
  return outline;
}

bool has_own_metadata(const input& document) {
  return document.contains("metadata") && document["metadata"].is_object() &&
         document["metadata"].contains("libtune");
}

}  // namespace

std::string to_t4_text(const function_content& one) {
  const search_content& search = one.searches.at(0);
  const std::string timestamp = text_of(search.columns, "started_at");
  std::vector<std::string> results;
  for (const trial_content& trial : search.trials) {
    results.push_back(result_text(trial, timestamp, objectives_of(one.function)));
  }
  return fmt::format(
      "{{\"schema_version\": \"1.0.0\",\n \"metadata\": {{\"timeunit\": \"miliseconds\",\n"
      "  \"libtune\": {}}},\n \"results\": [\n  {}]}}\n",
      to_json_document({.functions = {outline_of(one)}}), fmt::join(results, ",\n  "));
}

bool is_own_t4(std::string_view text) { return has_own_metadata(parse_t4(text)); }

function_content from_own_t4_text(std::string_view text) {
  const input document = parse_t4(text);
  if (!has_own_metadata(document)) refuse_t4("its 'metadata' has no member 'libtune'");
  database_content outline = from_json_document(document["metadata"]["libtune"].dump());
  if (outline.functions.size() != 1 || outline.functions.front().searches.size() != 1) {
    refuse_t4("its 'metadata' is not of one search");
  }
  function_content one = std::move(outline.functions.front());
  one.searches.front().trials = trials_from(document, one.function.value_fields);
  return one;
}

}  // namespace tune
