// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/strategy_score.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void summarise(strategy_score& made, std::vector<double> ratios) {
  const auto count = static_cast<double>(made.scores.size());
  made.score = std::accumulate(made.scores.begin(), made.scores.end(), 0.0) / count;
  double squares = 0;
  for (const double each : made.scores) squares += (each - made.score) * (each - made.score);
  constexpr double normal_95 = 1.96;
  if (count > 1) made.uncertainty = normal_95 * std::sqrt(squares / (count - 1) / count);
  made.ratio = median_of(std::move(ratios));
  const double middle = median_of(made.scores);
  made.typical =
      static_cast<std::size_t>(std::ranges::find(made.scores, middle) - made.scores.begin());
}

}  // namespace

strategy_score score_strategy(const std::string& strategy, const recorded_space& space,
                              const scoring& by, std::size_t searches, std::uint64_t first_seed) {
  if (searches == 0) throw argument_error("a strategy is scored by at least one search");
  strategy_score made{.strategy = strategy};
  std::vector<double> ratios;
  for (std::size_t i = 0; i < searches; ++i) {
    const auto searching =
        make_strategy(strategy, space.space(), {.seed = first_seed + i, .early_end = false});
    std::vector<simulated_step> steps = simulate(*searching, space, {.max_ms = by.budget_ms()});
    made.scores.push_back(by.score(steps));
    ratios.push_back(by.ratio_at(by.budget_ms(), steps));
    made.searches.push_back(std::move(steps));
  }
  summarise(made, std::move(ratios));
  return made;
}

}  // namespace tune
