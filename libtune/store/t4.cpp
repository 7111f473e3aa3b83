// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/t4.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/store/exchange.hpp"
#include "libtune/store/field_type.hpp"
#include "libtune/store/value_json.hpp"

namespace tune {
namespace {

using json = nlohmann::ordered_json;
// Its numbers have more digits than a double, so that changing the unit loses none.
using precise_json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                          std::uint64_t, long double>;

constexpr double nanoseconds_per_millisecond = 1e6;
constexpr std::string_view measured = "measured";
// Deeper than anything in such a file; what nests deeper is left out and then missed.
constexpr int greatest_depth = 32;

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

[[noreturn]] void refuse(const std::string& reason) {
  throw argument_error("the file is no T4 file that can be read: " + reason);
}

std::string_view invalidity_of(std::string_view outcome) {
  const auto* found = std::ranges::find(invalidities, outcome,
                                        &std::pair<std::string_view, std::string_view>::first);
  return found == invalidities.end() ? "runtime" : found->second;
}

std::string_view outcome_of(std::string_view invalidity) {
  const auto* found = std::ranges::find(invalidities, invalidity,
                                        &std::pair<std::string_view, std::string_view>::second);
  if (found == invalidities.end()) refuse(fmt::format("'{}' is no invalidity", invalidity));
  return found->first;
}

double in_nanoseconds(long double time, long double unit_ns) {
  return static_cast<double>(time * unit_ns);
}

std::string in_milliseconds(double ns) {
  std::string shortest = fmt::format("{}", ns / nanoseconds_per_millisecond);
  const long double back = std::strtold(shortest.c_str(), nullptr);
  if (in_nanoseconds(back, nanoseconds_per_millisecond) == ns) return shortest;
  constexpr int digits = std::numeric_limits<long double>::max_digits10;
  return fmt::format("{:.{}g}", static_cast<long double>(ns) / nanoseconds_per_millisecond, digits);
}

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

std::string result_json(const trial_content& trial, const std::string& timestamp) {
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

const precise_json& member(const precise_json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) refuse(fmt::format("there is no '{}' where one is expected", name));
  return *found;
}

std::string text_member(const precise_json& object, const char* name) {
  const precise_json& text = member(object, name);
  if (!text.is_string()) refuse(fmt::format("'{}' is no text", name));
  return text.get<std::string>();
}

precise_json parse(std::string_view text) {
  precise_json document = precise_json::parse(
      text, [](int depth, auto, auto&) { return depth < greatest_depth; }, false);
  if (document.is_discarded() || !document.is_object()) refuse("it is no JSON object");
  if (!member(document, "results").is_array()) refuse("'results' is no array");
  return document;
}

/// How many nanoseconds the file's unit of time has.
long double unit_of(const precise_json& document) {
  if (!document.contains("metadata") || !document["metadata"].is_object() ||
      !document["metadata"].contains("timeunit")) {
    return nanoseconds_per_millisecond;
  }
  const std::string unit = text_member(document["metadata"], "timeunit");
  for (const auto& [word, ns] : {std::pair{"miliseconds", 1e6L},
                                 {"milliseconds", 1e6L},
                                 {"ms", 1e6L},
                                 {"seconds", 1e9L},
                                 {"s", 1e9L},
                                 {"microseconds", 1e3L},
                                 {"us", 1e3L},
                                 {"nanoseconds", 1.0L},
                                 {"ns", 1.0L}}) {
    if (unit == word) return ns;
  }
  refuse(fmt::format("'{}' is no unit of time", unit));
}

value value_from(const precise_json& item, std::string_view alternative) {
  const bool any = alternative.empty();
  if (item.is_null()) return {};
  if (item.is_boolean() && (any || alternative == "bool")) return item.get<bool>();
  if (item.is_number_unsigned() && alternative == "unsigned") return item.get<std::uint64_t>();
  if (item.is_number_integer() && (any || alternative == "signed")) {
    return item.get<std::int64_t>();
  }
  if (item.is_number() && (any || alternative == "real")) {
    return static_cast<double>(item.get<long double>());
  }
  if (!item.is_string()) refuse("a configuration holds a value of another type than its field");
  const std::string text = item.get<std::string>();
  if (alternative != "real") return text;
  return std::strtod(text.c_str(), nullptr);  // "nan" and "inf"
}

std::vector<named_value> configuration_from(const precise_json& object,
                                            const std::vector<field_description>& fields) {
  std::vector<named_value> configuration;
  for (const field_description& field : fields) {
    configuration.push_back({field.name, value_from(member(object, field.name.c_str()),
                                                    detail::alternative_name(field.type))});
  }
  if (object.size() != fields.size()) refuse("a configuration has a parameter that no field names");
  return configuration;
}

/// A value of which nobody knows the type.
value any_value_from(const precise_json& item) {
  if (!item.is_number_unsigned()) return value_from(item, {});
  const auto number = item.get<std::uint64_t>();
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (number > most) return number;
  return static_cast<std::int64_t>(number);
}

/// The fields of the configurations of a file, with the types that their values show.
std::vector<field_description> fields_of(const precise_json& results, const field_types& types) {
  std::vector<field_description> fields;
  if (results.empty()) return fields;
  for (const auto& [name, first] : member(results.front(), "configuration").items()) {
    std::vector<value> values;
    for (const precise_json& result : results) {
      values.push_back(any_value_from(member(member(result, "configuration"), name.c_str())));
    }
    fields.push_back(shown_field(name, values, types));
  }
  return fields;
}

std::vector<double> samples_from(const precise_json& times, long double unit) {
  std::vector<double> samples;
  if (!times.contains("runtimes")) return samples;
  for (const precise_json& time : times["runtimes"]) {
    if (!time.is_number()) refuse("'runtimes' holds what is no number");
    samples.push_back(in_nanoseconds(time.get<long double>(), unit));
  }
  return samples;
}

void read_measurements(const precise_json& list, long double unit, column_values& columns) {
  if (!list.is_array()) refuse("'measurements' is no array");
  for (const precise_json& item : list) {
    const std::string name = text_member(item, "name");
    const precise_json& measurement = member(item, "value");
    if (name == "time" && measurement.is_number()) {
      columns["score_ns"] = in_nanoseconds(measurement.get<long double>(), unit);
    } else if ((name == "time" || name == "message") && measurement.is_string()) {
      columns["message"] = measurement.get<std::string>();
    } else if (name == "outcome" && measurement.is_string()) {
      columns["outcome"] = measurement.get<std::string>();
    }
  }
}

/// "2023-12-21 10:44:42.236642+00:00" as the columns have it: 2023-12-21T10:44:42Z.
std::string date_from(const std::string& timestamp) {
  constexpr std::size_t seconds_end = 19;
  if (timestamp.size() <= seconds_end || !timestamp.ends_with("+00:00")) return timestamp;
  std::string date = timestamp.substr(0, seconds_end) + "Z";
  date[10] = 'T';
  return date;
}

/// The columns that T4 itself has words for.
column_values columns_from(const precise_json& result, long double unit) {
  const precise_json& times = member(result, "times");
  if (!times.is_object()) refuse("'times' is no object");
  const precise_json& preparation = member(times, "compilation");
  if (!preparation.is_number()) refuse("'compilation' is no number");
  const double preparation_ns = in_nanoseconds(preparation.get<long double>(), unit);
  if (!(std::abs(preparation_ns) < 9e18)) refuse("'compilation' is no duration");
  column_values columns{
      {"outcome", std::string(outcome_of(text_member(result, "invalidity")))},
      {"message", std::string()},
      {"samples_ns", nlohmann::json(samples_from(times, unit)).dump()},
      {"preparation_ns", static_cast<std::int64_t>(std::llround(preparation_ns))},
      {"made_at", date_from(text_member(result, "timestamp"))},
  };
  read_measurements(member(result, "measurements"), unit, columns);
  if (text_of(columns, "outcome") != measured) columns.erase("score_ns");
  return columns;
}

trial_content trial_from(const precise_json& result, long double unit,
                         const std::vector<field_description>& fields) {
  trial_content trial{.configuration = configuration_from(member(result, "configuration"), fields),
                      .columns = columns_from(result, unit)};
  trial.columns["configuration"] = to_string(trial.configuration);
  return trial;
}

// NaN differs from itself, and 0.0 does not from -0.0.
bool same(const std::vector<named_value>& a, const std::vector<named_value>& b) {
  return canonical_text(a) == canonical_text(b);
}

// As columns, so that what says nothing is the same as what is not there.
bool same(const column_value& a, const column_value& b) {
  return canonical_text(column_values{{"", a}}) == canonical_text(column_values{{"", b}});
}

/// What is lost of a trial if only T4's own words are read. A column that is only in those words
/// has no value.
trial_content unsaid(const trial_content& trial, const std::string& timestamp,
                     const std::vector<field_description>& fields) {
  const precise_json words = precise_json::parse(result_json(trial, timestamp));
  trial_content said{.configuration = {},
                     .columns = columns_from(words, nanoseconds_per_millisecond)};
  try {
    said.configuration = configuration_from(member(words, "configuration"), fields);
  } catch (const argument_error&) {
    said.configuration.clear();  // other fields than the function's
  }
  said.columns["configuration"] = to_string(said.configuration);
  trial_content lost;
  if (!same(said.configuration, trial.configuration)) lost.configuration = trial.configuration;
  for (const auto& [name, v] : trial.columns) {
    if (!same(v, said.columns[name])) lost.columns[name] = v;
  }
  for (const auto& [name, v] : said.columns) {
    if (!trial.columns.contains(name) && !same(v, {})) lost.columns[name] = {};
  }
  return lost;
}

/// A trial that to_t4_text wrote. @param lost  what T4 has no words for
trial_content own_trial_from(const precise_json& result, trial_content lost, long double unit,
                             const std::vector<field_description>& fields) {
  trial_content trial{.configuration = std::move(lost.configuration),
                      .columns = columns_from(result, unit)};
  const precise_json& configuration = member(result, "configuration");
  if (trial.configuration.empty() && !configuration.empty()) {
    trial.configuration = configuration_from(configuration, fields);
  }
  trial.columns["configuration"] = to_string(trial.configuration);
  for (auto& [name, v] : lost.columns) {
    if (std::holds_alternative<std::monostate>(v)) {
      trial.columns.erase(name);
    } else {
      trial.columns[name] = std::move(v);
    }
  }
  return trial;
}

std::vector<trial_content> trials_from(const precise_json& document,
                                       const std::vector<field_description>& fields) {
  const long double unit = unit_of(document);
  std::vector<trial_content> trials;
  for (const precise_json& result : document["results"]) {
    trials.push_back(trial_from(result, unit, fields));
  }
  return trials;
}

result_content result_of(const t4_subject& subject, const trial_content& best,
                         const std::string& date) {
  result_content result{.arguments = subject.arguments,
                        .values = best.configuration,
                        .columns = device_columns(subject.device)};
  result.columns["score_ns"] = *best.score_ns();
  result.columns["tuned_at"] = date;
  return result;
}

}  // namespace

std::string to_t4_text(const function_content& one) {
  const search_content& search = one.searches.at(0);
  function_content outline = one;
  std::vector<trial_content>& lost = outline.searches.at(0).trials;
  lost.clear();
  const std::string timestamp = text_of(search.columns, "started_at");
  std::vector<std::string> results;
  for (const trial_content& trial : search.trials) {
    lost.push_back(unsaid(trial, timestamp, one.function.value_fields));
    results.push_back(result_json(trial, timestamp));
  }
  return fmt::format(
      "{{\"schema_version\": \"1.0.0\",\n \"metadata\": {{\"timeunit\": \"miliseconds\",\n"
      "  \"libtune\": {}}},\n \"results\": [\n  {}]}}\n",
      to_exchange_text({.functions = {std::move(outline)}}), fmt::join(results, ",\n  "));
}

bool is_own_t4(std::string_view text) {
  const precise_json document = parse(text);
  return document.contains("metadata") && document["metadata"].is_object() &&
         document["metadata"].contains("libtune");
}

function_content from_own_t4_text(std::string_view text) {
  const precise_json document = parse(text);
  const auto again = nlohmann::json::parse(
      text, [](int depth, auto, auto&) { return depth < greatest_depth; }, false);
  if (!is_own_t4(text)) refuse("its 'metadata' has no member 'libtune'");
  database_content outline = from_exchange_text(again["metadata"]["libtune"].dump());
  if (outline.functions.size() != 1 || outline.functions.front().searches.size() != 1) {
    refuse("its 'metadata' is not of one search");
  }
  function_content one = std::move(outline.functions.front());
  std::vector<trial_content>& trials = one.searches.front().trials;
  // Files of older versions say nothing of their trials.
  if (trials.empty()) trials.resize(document["results"].size());
  if (trials.size() != document["results"].size()) refuse("'metadata' is of other results");
  const long double unit = unit_of(document);
  auto trial = trials.begin();
  for (const precise_json& result : document["results"]) {
    *trial = own_trial_from(result, std::move(*trial), unit, one.function.value_fields);
    ++trial;
  }
  return one;
}

function_content from_t4_text(std::string_view text, const t4_subject& subject) {
  const precise_json document = parse(text);
  const precise_json& results = document["results"];
  if (results.empty()) refuse("it has no results");
  function_content one{.function = subject.function, .results = {}, .searches = {}};
  if (one.function.value_fields.empty()) {
    one.function.value_fields = fields_of(results, subject.types);
  }
  search_content search;
  search.trials = trials_from(document, one.function.value_fields);
  const auto best = std::ranges::min_element(search.trials, {}, [](const trial_content& trial) {
    return trial.score_ns().value_or(std::numeric_limits<double>::infinity());
  });
  const auto index = static_cast<std::size_t>(best - search.trials.begin());
  const bool found = best->score_ns().has_value();
  search.columns = search_columns(subject.arguments, subject.device);
  search.columns["started_at"] = date_from(text_member(results.front(), "timestamp"));
  search.columns["finished_at"] = date_from(text_member(results.back(), "timestamp"));
  search.columns["result"] = std::string(found ? "found" : "all failed");
  if (found) {
    const std::string date = date_from(text_member(results[index], "timestamp"));
    one.results.push_back(result_of(subject, *best, date));
  }
  one.searches.push_back(std::move(search));
  return one;
}

}  // namespace tune
