// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "libtune/extra/formats/kernel_tuner_cache.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/recording_builder.hpp"

namespace tune {
namespace {

/// The figure of an entry by the name of its metric; empty if it failed or lacks the figure.
std::optional<double> figure_of(const kernel_tuner_entry& entry, const std::string& metric) {
  if (metric == "time") return entry.time;
  const auto* const found = find_metric(entry.metrics, metric);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

recording recording_of(kernel_tuner_entry&& entry, const objective& tuned_for) {
  recording made{.failure = std::move(entry.failure),
                 .compile_ms = entry.compile_time,
                 .verification_ms = entry.verification_time,
                 .benchmark_ms = entry.benchmark_time,
                 .framework_ms = entry.framework_time,
                 .samples_ms = std::move(entry.times)};
  if (made.failure.empty()) detail::set_figure(made, figure_of(entry, tuned_for.metric), tuned_for);
  return made;
}

}  // namespace

recorded_space read_kernel_tuner(std::string_view text, std::string name,
                                 const std::optional<objective>& tuned_for) {
  kernel_tuner_cache cache = read_kernel_tuner_cache(text);
  const objective goal = detail::objective_of(cache.objective, tuned_for);
  detail::recording_builder builder(std::move(cache.parameters));
  for (kernel_tuner_entry& entry : cache.entries) {
    std::vector<value> values = std::move(entry.values);
    builder.add({std::move(values), recording_of(std::move(entry), goal)});
  }
  return std::move(builder).build(std::move(name), goal);
}

}  // namespace tune
