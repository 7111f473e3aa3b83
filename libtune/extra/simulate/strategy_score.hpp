// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/extra/simulate/scoring.hpp"

namespace tune {

/// Simulated searches of one strategy in one space, each with another seed, and their scores.
struct strategy_score {
  std::string strategy{};
  std::vector<double>
      scores{};  ///< of each search: 0 as good as random search, 1 the optimum at once
  std::vector<std::vector<simulated_step>> searches{};  ///< in the order of the scores
  double score = 0;                                     ///< the mean
  double uncertainty = 0;   ///< half the width of the mean's 95 % confidence interval
  double ratio = 0;         ///< the median of best / optimum at the end of the budget
  std::size_t typical = 0;  ///< the search whose score is the median
};

/// Lets a strategy search a recorded space within the budget of a scoring.
/// @param strategy    a name for make_strategy
/// @param searches    their number, at least 1
/// @param first_seed  the seed of the first; the others follow it
/// @throws argument_error for an unknown strategy, or no searches
strategy_score score_strategy(const std::string& strategy, const recorded_space& space,
                              const scoring& by, std::size_t searches,
                              std::uint64_t first_seed = 0);

}  // namespace tune
