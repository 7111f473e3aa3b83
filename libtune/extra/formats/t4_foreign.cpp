// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// T4 of other programs: by the schema, as Kernel Tuner writes it, and as KTT does.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/python_json.hpp"
#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/formats/t4_members.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {
namespace {

using detail::input;
using namespace detail::t4;

/// The figure that the search compared; empty for the time.
std::string objective_of(const input& results) {
  const input listed = list_or_nothing(results.front(), "objectives");
  if (listed.empty() || !listed.front().is_string()) return {};
  const std::string name = listed.front().get<std::string>();
  return is_time_name(name) ? std::string() : name;
}

double compilation_of(const input& times, double unit) {
  for (const char* name : {"compilation", "compilation_time"}) {
    const auto found = times.find(name);
    if (found == times.end() || found->is_null()) continue;
    const std::optional<double> number = detail::real_in(*found);
    if (!number) refuse_t4(fmt::format("'{}' is no number", name));
    constexpr double most_ns = 9e18;
    if (!(std::abs(*number * unit) < most_ns)) refuse_t4(fmt::format("'{}' is no duration", name));
    return *number * unit;
  }
  return 0;
}

void read_measurement(const input& item, double unit, column_values& columns,
                      std::vector<metric>& metrics) {
  const std::string name = text_member(item, "name");
  const input& measured_value = member_of(item, "value");
  const std::optional<double> number = detail::real_in(measured_value);
  if (is_time_name(name) && number) {
    columns["score_ns"] = *number * unit;
  } else if (is_time_name(name) && measured_value.is_string()) {
    columns["message"] = measured_value.get<std::string>();
  } else if (number || measured_value.is_null()) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    set_metric(metrics,
               {metric_name_for(name), number.value_or(unknown), text_or_nothing(item, "unit")});
  }
}

bool is_no_time(double ns) { return !std::isfinite(ns) || ns <= 0; }

/// Removes impossible times, as a foreign file may contain any, and takes the mean of the runs of a
/// file without a measured time.
void settle_times(std::vector<double> samples, bool has_other_goal, column_values& columns) {
  std::erase_if(samples, is_no_time);
  columns["samples_ns"] = input(samples).dump();
  if (text_of(columns, "outcome") != measured) {
    columns.erase("score_ns");
    return;
  }
  const auto score = columns.find("score_ns");
  if (score == columns.end() && !samples.empty()) {
    const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
    columns["score_ns"] = sum / static_cast<double>(samples.size());
  } else if (score == columns.end() ? !has_other_goal
                                    : is_no_time(std::get<double>(score->second))) {
    columns["outcome"] = std::string("invalid time");
    columns.erase("score_ns");
  }
}

column_values columns_from(const input& result, double unit, bool has_other_goal) {
  const input& times = member_of(result, "times");
  if (!times.is_object()) refuse_t4("'times' is no object");
  column_values columns{
      {"outcome", std::string(outcome_of(text_member(result, "invalidity")))},
      {"message", std::string()},
      {"preparation_ns", static_cast<std::int64_t>(std::llround(compilation_of(times, unit)))},
      {"made_at", date_from(text_or_nothing(result, "timestamp"))},
  };
  std::vector<metric> metrics;
  for (const input& item : list_or_nothing(result, "measurements")) {
    read_measurement(item, unit, columns, metrics);
  }
  if (!metrics.empty()) columns[detail::metrics_column] = detail::metrics_to_json(metrics);
  settle_times(samples_from(times, unit), has_other_goal, columns);
  return columns;
}

std::vector<named_value> configuration_from(const input& result,
                                            const std::vector<std::string>& names) {
  const input& given = member_of(result, "configuration");
  if (given.size() != names.size()) {
    refuse_t4("a configuration has other parameters than the first");
  }
  std::vector<named_value> configuration;
  for (const std::string& name : names) {
    configuration.push_back({name, value_from(member_of(given, name.c_str()), {})});
  }
  return configuration;
}

}  // namespace

function_content from_t4_text(std::string_view text, const foreign_subject& subject) {
  const input document = parse_t4(text);
  const input& results = document["results"];
  if (results.empty()) refuse_t4("it has no results");
  const double unit = unit_of(document);
  const std::string objective = objective_of(results);
  std::vector<std::string> names;
  for (const auto& item : member_of(results.front(), "configuration").items()) {
    names.push_back(item.key());
  }
  std::vector<trial_content> trials;
  for (const input& result : results) {
    trials.push_back({.configuration = configuration_from(result, names),
                      .columns = columns_from(result, unit, !objective.empty())});
  }
  foreign_subject with_goal = subject;
  if (!with_goal.goal && !objective.empty()) with_goal.goal = goal_for(objective);
  return content_of(with_goal, std::move(trials));
}

}  // namespace tune
