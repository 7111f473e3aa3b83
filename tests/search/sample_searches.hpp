// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "libtune/search/strategy/strategy.hpp"
#include "tests/search/sample_spaces.hpp"

namespace tune::testing {

/// All proposals of a search, each answered at once by what answer returns.
inline std::vector<std::size_t> proposals(
    strategy& searching, const std::function<std::optional<double>(std::size_t)>& answer) {
  std::vector<std::size_t> all;
  while (const auto index = searching.ask()) {
    all.push_back(*index);
    searching.tell(*index, answer(*index));
  }
  return all;
}

/// Five parameters of eight candidates: 32768 configurations.
inline search_space wide_space() {
  return search_space(
      {counting("a", 8), counting("b", 8), counting("c", 8), counting("d", 8), counting("e", 8)});
}

/// A score with its only lowest point, 1, at 6, 1, 5, 2, 4; every fifth configuration fails.
inline std::optional<double> valley(const search_space& space, std::size_t index) {
  constexpr double lowest[] = {6, 1, 5, 2, 4};
  const auto choice = space.choice(index);
  double score = 1;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const double off = static_cast<double>(choice[i]) - lowest[i];
    score *= 1 + 0.2 * off * off;
  }
  if (index % 5 == 0 && score > 1) return std::nullopt;
  return score;
}

/// The best score that a strategy finds in so many proposals.
inline double best_of_search(std::string_view name, std::size_t proposals, std::uint64_t seed) {
  const search_space space = wide_space();
  const auto searching = make_strategy(name, space, {.seed = seed, .max_count = proposals});
  double best = std::numeric_limits<double>::infinity();
  while (const auto index = searching->ask()) {
    const auto score = valley(space, *index);
    if (score) best = std::min(best, *score);
    searching->tell(*index, score);
  }
  return best;
}

/// The mean of that over some seeds.
inline double mean_best_of_search(std::string_view name, std::size_t proposals) {
  constexpr std::uint64_t seeds = 8;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    sum += best_of_search(name, proposals, seed);
  }
  return sum / seeds;
}

}  // namespace tune::testing
