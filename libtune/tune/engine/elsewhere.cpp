// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/elsewhere.hpp"

#include <chrono>
#include <exception>
#include <limits>

namespace tune::detail {

// One run is enough to know that a configuration works; its time is of no interest.
std::optional<std::string> try_in_child(const tuning_task& task,
                                        const std::vector<named_value>& configuration) {
  tuning_options once = task.options;
  once.measure = {
      .time_limit = std::chrono::nanoseconds(0), .min_iterations = 1, .max_iterations = 1};
  once.budget = tuning_budget{.target = run_time(std::numeric_limits<double>::infinity())};
  try {
    run_tuning({.context = task.context,
                .function = task.function,
                .tunes = task.tunes,
                .subject = task.subject,
                .options = once,
                .read_prior = task.read_prior,
                .choice = {.configurations = {configuration}}});
    return std::nullopt;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

}  // namespace tune::detail
