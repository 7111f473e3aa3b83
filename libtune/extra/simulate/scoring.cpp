// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/scoring.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tune {
namespace {

constexpr double begin_part = 0.01;
constexpr double end_part = 0.95;

}  // namespace

scoring::scoring(random_baseline baseline, std::optional<double> cost_ms, std::size_t moments)
    : baseline_(std::move(baseline)), cost_ms_(cost_ms.value_or(baseline_.cost_ms())) {
  const double first = baseline_.evaluations_to(baseline_.target_ms(begin_part));
  const double last = baseline_.evaluations_to(baseline_.target_ms(end_part));
  for (std::size_t i = 1; i <= moments; ++i) {
    const double part =
        moments == 1 ? 1 : static_cast<double>(i - 1) / (static_cast<double>(moments) - 1);
    times_.push_back(cost_ms_ * (first + part * (last - first)));
  }
}

std::vector<double> scoring::curve(std::span<const simulated_step> steps) const {
  const double optimum = baseline_.optimum_ms();
  std::vector<double> scores;
  const auto first = std::ranges::find_if(
      steps, [&](const auto& s) { return s.score_ms && s.finished_ms <= budget_ms(); });
  double best = first == steps.end() ? baseline_.worst_ms() : *first->score_ms;
  auto next = steps.begin();
  for (const double time : times_) {
    for (; next != steps.end() && next->finished_ms <= time; ++next) {
      if (next->score_ms) best = std::min(best, *next->score_ms);
    }
    const double expected = baseline_.expected_ms(time / cost_ms_);
    // If random search itself is expected to reach the optimum, there is no gap to close.
    scores.push_back(expected > optimum ? (expected - best) / (expected - optimum)
                                        : (best > optimum ? 0.0 : 1.0));
  }
  return scores;
}

double scoring::score(std::span<const simulated_step> steps) const {
  const std::vector<double> scores = curve(steps);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

double scoring::ratio_at(double time_ms, std::span<const simulated_step> steps) const {
  double best = std::numeric_limits<double>::infinity();
  for (const simulated_step& step : steps) {
    if (step.finished_ms <= time_ms && step.score_ms) best = std::min(best, *step.score_ms);
  }
  return best / baseline_.optimum_ms();
}

}  // namespace tune
