// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/libtune_recording.hpp"

#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/recording_builder.hpp"

namespace tune {
namespace {

constexpr double ms_per_ns = 1e-6;

/// The space of a search.
std::string subject_of(const function_identity& function, const search_content& search) {
  return fmt::format("{} version {} ({}) on {}", function.name, function.version,
                     text_of(search.columns, "arguments_canonical"),
                     text_of(search.columns, "device_canonical"));
}

/// Integers are made signed if they fit, so that equal ones compare equal.
value candidate_of(const value& v) {
  constexpr auto most = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const auto* number = std::get_if<std::uint64_t>(&v);
  return number != nullptr && *number <= most ? value(static_cast<std::int64_t>(*number)) : v;
}

recorded_configuration recorded(const trial_content& trial,
                                const std::vector<parameter>& parameters, const objective& goal) {
  recorded_configuration one;
  for (const named_value& field : trial.configuration) {
    const std::size_t at = one.values.size();
    if (at >= parameters.size() || field.name != parameters[at].name) {
      throw argument_error("an export holds trials of different parameters; export one search");
    }
    one.values.push_back(candidate_of(field.value));
  }
  recording& result = one.result;
  for (const double sample : trial.samples_ns()) result.samples_ms.push_back(sample * ms_per_ns);
  result.benchmark_ms = std::accumulate(result.samples_ms.begin(), result.samples_ms.end(), 0.0);
  const auto preparation = trial.columns.find("preparation_ns");
  if (preparation != trial.columns.end()) {
    if (const auto* ns = std::get_if<std::int64_t>(&preparation->second)) {
      result.compile_ms = static_cast<double>(*ns) * ms_per_ns;
    }
  }
  const std::string outcome = text_of(trial.columns, "outcome");
  if (goal.metric == "time") {
    const auto score = trial.score_ns();
    if (score && *score > 0) result.score_ms = *score * ms_per_ns;
    if (!result.score_ms) result.failure = outcome;
  } else if (outcome != "measured") {
    result.failure = outcome;
  } else {
    const std::vector<metric> metrics = trial.metrics();
    const metric* const found = find_metric(metrics, goal.metric);
    detail::set_figure(result, found == nullptr ? std::nullopt : std::optional(found->value), goal);
  }
  return one;
}

std::vector<parameter> parameters_of(const trial_content& trial) {
  std::vector<parameter> parameters;
  for (const named_value& field : trial.configuration) parameters.push_back({field.name, {}});
  return parameters;
}

}  // namespace

namespace detail {

recorded_space recorded_in(const database_content& all, std::string name) {
  std::optional<recording_builder> builder;
  std::string subject;
  objective scored;
  for (const function_content& content : all.functions) {
    const tuning_goal goal = split_name(content.function.name).second;
    const objective first = goal.objectives.empty() ? objective{} : goal.objectives.front();
    for (const search_content& search : content.searches) {
      if (search.trials.empty()) continue;
      const std::string other = subject_of(content.function, search);
      if (builder && other != subject) {
        throw argument_error(fmt::format(
            "an export holds searches of {} and of {}; export one of them", subject, other));
      }
      subject = other;
      scored = first;
      if (!builder) builder.emplace(parameters_of(search.trials.front()));
      for (const trial_content& trial : search.trials) {
        builder->add(recorded(trial, builder->parameters(), first));
      }
    }
  }
  if (!builder) throw argument_error("an export of libtune holds no trial");
  return std::move(*builder).build(std::move(name), scored);
}

}  // namespace detail

recorded_space read_libtune_export(std::string_view text, std::string name) {
  return detail::recorded_in(from_json_document(text), std::move(name));
}

}  // namespace tune
