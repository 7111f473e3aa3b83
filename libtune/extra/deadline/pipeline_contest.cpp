// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_contest.hpp"

#include <cmath>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/deadline/contest.hpp"

namespace tune {

contest_result find_best_pipeline(const pipeline_goal& goal,
                                  const std::vector<std::size_t>& configurations,
                                  const contest_settings& settings, const pipeline_runner& run) {
  const auto is_part = [](double x) { return x >= 0 && x <= 1; };
  if (!(goal.deadline.count() > 0) || !is_part(goal.late) || !is_part(goal.quantile) ||
      !(goal.rate >= 0) || !std::isfinite(goal.rate)) {
    throw argument_error(fmt::format(
        "a pipeline's goal needs a deadline above 0 s, parts from 0 to 1 and a rate of at least 0; "
        "given are {} s, {} late, the quantile {} and {} units/s",
        goal.deadline.count(), goal.late, goal.quantile, goal.rate));
  }
  if (configurations.empty()) throw argument_error("a pipeline needs a configuration to be tuned");
  if (!(settings.budget.count() > 0) || !(settings.tolerance > 0)) {
    throw argument_error("a contest of pipelines needs a budget and a tolerance above 0");
  }
  if (!goal.figure.empty() && goal.rate == 0) {
    throw argument_error("the figure '" + goal.figure +
                         "' of a pipeline is minimised at a rate; set the rate of the goal");
  }
  if (goal.rate > 0) return detail::find_least_tail(goal, configurations, settings, run);
  return detail::find_highest_rate(goal, configurations, settings, run);
}

}  // namespace tune
