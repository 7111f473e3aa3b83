// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/t4.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/exchange/exchange.hpp"
#include "libtune/exchange/t4_trial.hpp"

namespace tune {
namespace {

using detail::refuse_t4;
using detail::t4_date;
using detail::t4_json;
using detail::t4_member;
using detail::t4_result_text;
using detail::t4_text_member;
using detail::t4_trial;
using detail::t4_unit;
using detail::t4_value;

// Deeper than anything in such a file; what nests deeper is left out and then missed.
constexpr int greatest_depth = 32;

t4_json parse(std::string_view text) {
  t4_json document = t4_json::parse(
      text, [](int depth, auto, auto&) { return depth < greatest_depth; }, false);
  if (document.is_discarded() || !document.is_object()) refuse_t4("it is no JSON object");
  if (!t4_member(document, "results").is_array()) refuse_t4("'results' is no array");
  return document;
}

/// How many nanoseconds the file's unit of time has.
double unit_of(const t4_json& document) {
  if (!document.contains("metadata") || !document["metadata"].is_object() ||
      !document["metadata"].contains("timeunit")) {
    return t4_unit;
  }
  const std::string unit = t4_text_member(document["metadata"], "timeunit");
  for (const auto& [word, ns] : {std::pair{"miliseconds", 1e6},
                                 {"milliseconds", 1e6},
                                 {"ms", 1e6},
                                 {"seconds", 1e9},
                                 {"s", 1e9},
                                 {"microseconds", 1e3},
                                 {"us", 1e3},
                                 {"nanoseconds", 1.0L},
                                 {"ns", 1.0L}}) {
    if (unit == word) return ns;
  }
  refuse_t4(fmt::format("'{}' is no unit of time", unit));
}

/// A value of which nobody knows the type.
value any_value_from(const t4_json& item) {
  if (!item.is_number_unsigned()) return t4_value(item, {});
  const auto number = item.get<std::uint64_t>();
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (number > most) return number;
  return static_cast<std::int64_t>(number);
}

/// The fields of the configurations of a file, with the types that their values show.
std::vector<field_description> fields_of(const t4_json& results, const field_types& types) {
  std::vector<field_description> fields;
  if (results.empty()) return fields;
  for (const auto& [name, first] : t4_member(results.front(), "configuration").items()) {
    std::vector<value> values;
    for (const t4_json& result : results) {
      values.push_back(any_value_from(t4_member(t4_member(result, "configuration"), name.c_str())));
    }
    fields.push_back(shown_field(name, values, types));
  }
  return fields;
}

std::vector<trial_content> trials_from(const t4_json& document,
                                       const std::vector<field_description>& fields) {
  const double unit = unit_of(document);
  std::vector<trial_content> trials;
  for (const t4_json& result : document["results"]) {
    trials.push_back(t4_trial(result, unit, fields));
  }
  return trials;
}

/// What a file says of its search besides the trials.
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

bool has_own_metadata(const t4_json& document) {
  return document.contains("metadata") && document["metadata"].is_object() &&
         document["metadata"].contains("libtune");
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
  const std::string timestamp = text_of(search.columns, "started_at");
  std::vector<std::string> results;
  for (const trial_content& trial : search.trials) {
    results.push_back(t4_result_text(trial, timestamp));
  }
  return fmt::format(
      "{{\"schema_version\": \"1.0.0\",\n \"metadata\": {{\"timeunit\": \"miliseconds\",\n"
      "  \"libtune\": {}}},\n \"results\": [\n  {}]}}\n",
      to_exchange_text({.functions = {outline_of(one)}}), fmt::join(results, ",\n  "));
}

bool is_own_t4(std::string_view text) { return has_own_metadata(parse(text)); }

function_content from_own_t4_text(std::string_view text) {
  const t4_json document = parse(text);
  if (!has_own_metadata(document)) refuse_t4("its 'metadata' has no member 'libtune'");
  database_content outline = from_exchange_text(document["metadata"]["libtune"].dump());
  if (outline.functions.size() != 1 || outline.functions.front().searches.size() != 1) {
    refuse_t4("its 'metadata' is not of one search");
  }
  function_content one = std::move(outline.functions.front());
  one.searches.front().trials = trials_from(document, one.function.value_fields);
  return one;
}

function_content from_t4_text(std::string_view text, const t4_subject& subject) {
  const t4_json document = parse(text);
  const t4_json& results = document["results"];
  if (results.empty()) refuse_t4("it has no results");
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
  search.columns["started_at"] = t4_date(t4_text_member(results.front(), "timestamp"));
  search.columns["finished_at"] = t4_date(t4_text_member(results.back(), "timestamp"));
  search.columns["result"] = std::string(found ? "found" : "all failed");
  if (found) {
    const std::string date = t4_date(t4_text_member(results[index], "timestamp"));
    one.results.push_back(result_of(subject, *best, date));
  }
  one.searches.push_back(std::move(search));
  return one;
}

}  // namespace tune
