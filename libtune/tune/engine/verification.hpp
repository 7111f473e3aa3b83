// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/engine/trial_runner.hpp"

namespace tune {

/// What is measured again in place of a search.
struct verification {
  /// How many results of other devices, and how many configurations of the nearest, at most.
  static constexpr std::size_t most_winners = 3;
  static constexpr std::size_t most_runners_up = 4;

  std::vector<record> winners{};       ///< from the nearest device to the farthest
  std::vector<stored_trial> trials{};  ///< of the search that led to the first of them
  std::vector<named_value> test_default{};

  bool empty() const noexcept { return winners.empty(); }
};

/// The configurations to measure again, as far as they are in the space and within the limits that
/// the space declares: the winners, the best other trials of the nearest one, from the least score
/// on, and the test default. Empty unless at least one winner is among them, for without one the
/// rest says too little.
std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device);

}  // namespace tune
