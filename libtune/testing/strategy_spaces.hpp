// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/search/space/search_space.hpp"

namespace tune::testing {

/// A space that strategies are tried on.
struct strategy_space {
  std::string name;
  search_space space;
};

/// Spaces of all kinds, none so large that it cannot be gone through: of one configuration, of one
/// parameter, restricted, of values that are no integers, without parameters, without
/// configurations, and one where restrictions leave a single combination of a million.
std::vector<strategy_space> small_strategy_spaces();

/// 10^7 configurations.
search_space huge_strategy_space();

/// What becomes of configurations.
struct strategy_answers {
  std::string name;
  std::function<std::optional<double>(const search_space&, std::size_t index)> answer;
};

/// Answers of all kinds: with a best one, all the same, failures among them, nothing but failures,
/// and scores that are negative, huge or no numbers.
std::vector<strategy_answers> all_strategy_answers();

}  // namespace tune::testing
