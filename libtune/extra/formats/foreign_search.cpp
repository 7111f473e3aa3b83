// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/foreign_search.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {
namespace {

/// The fields that occur in the values of any trial.
std::vector<field_description> fields_of(const std::vector<trial_content>& trials,
                                         const field_types& types) {
  std::vector<field_description> fields;
  for (std::size_t i = 0; i < trials.front().configuration.size(); ++i) {
    std::vector<value> values;
    for (const trial_content& trial : trials) values.push_back(trial.configuration.at(i).value);
    fields.push_back(infer_field(trials.front().configuration[i].name, values, types));
  }
  return fields;
}

std::vector<named_value> tuning_of(const foreign_subject& subject,
                                   const std::vector<field_description>& fields,
                                   const std::vector<named_value>& configuration) {
  std::vector<named_value> tuning;
  std::size_t taken = 0;
  std::map<std::string_view, const value*> given;
  for (const named_value& item : configuration) given.emplace(item.name, &item.value);
  for (const field_description& field : fields) {
    const auto found = given.find(field.name);
    const auto usual = std::ranges::find(subject.defaults, field.name, &named_value::name);
    if (found != given.end()) {
      tuning.push_back({field.name, convert_value(field, *found->second)});
      ++taken;
    } else if (!subject.same_kernel && usual != subject.defaults.end()) {
      tuning.push_back(*usual);
    } else {
      throw argument_error(
          fmt::format("no parameter is called as the field '{}' of '{}'; name the one that it is "
                      "with --field {}=PARAMETER",
                      field.name, subject.function.name, field.name));
    }
  }
  if (taken == 0) {
    throw argument_error(
        fmt::format("'{}' and the file have no parameter in common; name those "
                    "that are the same with --field FIELD=PARAMETER",
                    subject.function.name));
  }
  if (subject.same_kernel && taken < configuration.size()) {
    throw argument_error(fmt::format(
        "the file has parameters that are no fields of '{}': with --same-kernel both have the same",
        subject.function.name));
  }
  return tuning;
}

/// The figure of a measured trial that a goal compares first, less being better; infinite for
/// others.
double cost_of(const trial_content& trial, const tuning_goal& goal) {
  constexpr double worst = std::numeric_limits<double>::infinity();
  if (goal.is_time()) return trial.score_ns().value_or(worst);
  if (text_of(trial.columns, "outcome") != "measured") return worst;
  const objective& first = goal.objectives.front();
  const std::vector<metric> metrics = trial.metrics();
  const metric* const found = find_metric(metrics, first.metric);
  if (found == nullptr || !std::isfinite(found->value)) return worst;
  return first.maximise ? -found->value : found->value;
}

}  // namespace

std::string metric_name_for(std::string_view figure) {
  std::string name;
  for (const char c : figure) name += detail::is_word(c) ? detail::lower_case(c) : '_';
  if (name.empty() || !detail::is_letter(name.front())) name.insert(0, "m_");
  constexpr std::size_t most_characters = 64;
  return name.substr(0, most_characters);
}

tuning_goal goal_for(std::string_view figure) {
  const std::string name = metric_name_for(figure);
  if (name == "time") return {};
  for (const char* less : {"energy", "fitness_cost", "cost", "loss", "power"}) {
    if (name == less) return {.objectives = {minimise(name)}};
  }
  for (const char* more : {"flop_s", "flops", "b_s", "flops_w", "flop_j", "flop_w"}) {
    if (name.ends_with(more)) return {.objectives = {maximise(name)}};
  }
  if (name == "fitness") return {.objectives = {maximise(name)}};
  throw argument_error(fmt::format(
      "the file was tuned for '{0}', and does not say whether less or more is better; say so with "
      "--objective 'min {1}' or 'max {1}'",
      figure, name));
}

std::string date_from(const std::string& timestamp) {
  constexpr std::string_view form = "dddd-dd-dd dd:dd:dd";
  constexpr std::size_t seconds_end = form.size();
  constexpr std::size_t longest = 40;  // the length with parts of a second and a zone
  if (timestamp.size() < seconds_end || timestamp.size() > longest) return {};
  for (std::size_t i = 0; i < seconds_end; ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(timestamp[i])) != 0;
    const bool fits =
        form[i] == 'd' ? is_digit : timestamp[i] == form[i] || (i == 10 && timestamp[i] == 'T');
    if (!fits) return {};
  }
  if (!timestamp.ends_with("+00:00") && !timestamp.ends_with(" UTC")) return timestamp;
  std::string date = timestamp.substr(0, seconds_end) + "Z";
  date[10] = 'T';
  return date;
}

function_content content_of(const foreign_subject& subject, std::vector<trial_content> trials) {
  if (trials.empty()) throw argument_error("the file has no results");
  search_content search{.columns = search_columns(subject.arguments, subject.device)};
  std::string first;
  std::string last;
  for (trial_content& trial : trials) {
    std::string date = text_of(trial.columns, "made_at");
    if (date.empty()) trial.columns["made_at"] = date = subject.date;
    if (first.empty() || date < first) first = date;
    last = std::max(last, date);
    for (named_value& item : trial.configuration) {
      const auto renamed = subject.names.find(item.name);
      if (renamed != subject.names.end()) item.name = renamed->second;
    }
  }
  const tuning_goal goal = subject.goal.value_or(tuning_goal{});
  const auto best = std::ranges::min_element(
      trials, {}, [&](const trial_content& trial) { return cost_of(trial, goal); });
  const bool found = std::isfinite(cost_of(*best, goal));
  search.columns["started_at"] = first;
  search.columns["finished_at"] = last;
  search.columns["result"] = std::string(found ? "found" : "all failed");
  function_content one{.function = subject.function};
  if (!goal.is_time()) one.function.name = detail::name_with_goal(subject.function.name, goal);
  if (one.function.value_fields.empty()) {
    one.function.value_fields = fields_of(trials, subject.types);
  }
  const std::vector<field_description>& fields = one.function.value_fields;
  if (found) {
    result_content result{.arguments = subject.arguments,
                          .values = tuning_of(subject, fields, best->configuration),
                          .columns = device_columns(subject.device)};
    if (const auto score = best->score_ns()) result.columns["score_ns"] = *score;
    if (!subject.same_kernel) result.columns["device_api"] = std::string(prior_api);
    result.columns["tuned_at"] = text_of(best->columns, "made_at");
    one.results.push_back(std::move(result));
  }
  // The trials of another kernel are stored unchanged.
  const bool converts = subject.same_kernel || subject.function.value_fields.empty();
  std::map<std::string_view, const field_description*> types;
  for (const field_description& field : fields) types.emplace(field.name, &field);
  for (trial_content& trial : trials) {
    if (!converts) break;
    for (named_value& item : trial.configuration) {
      const auto field = types.find(item.name);
      if (field != types.end()) item.value = convert_value(*field->second, item.value);
    }
  }
  search.trials = std::move(trials);
  one.searches.push_back(std::move(search));
  return one;
}

}  // namespace tune
