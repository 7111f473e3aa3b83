// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {

/// Prior results that are measured again in place of a search.
struct verification {
  /// The greatest numbers of results of other devices, and of other trials of the nearest one.
  static constexpr std::size_t most_winners = 3;
  static constexpr std::size_t most_runners_up = 4;

  std::vector<record> winners{};       ///< from the nearest device to the farthest
  std::vector<stored_trial> trials{};  ///< of the search that led to the first of them
  std::vector<named_value> test_default{};

  bool empty() const noexcept { return winners.empty(); }
};

/// Returns the configurations to measure again, as far as they are in the space and within the
/// limits that the space declares: the winners, the best other trials of the nearest one, from the
/// least score on, and the test default. Empty unless at least one winner is among them, because
/// the others alone say too little.
std::vector<std::size_t> make_shortlist(const verification& known, const search_problem& problem,
                                        const device& device);

/// The configurations of a space that a search tries in place of the proposals of the strategy. At
/// most one of the three is used.
struct trial_choice {
  /// A few to measure again; where none of them works, the whole space is searched.
  verification known{};
  /// These alone, in this order, as far as they are in the space.
  std::vector<std::vector<named_value>> configurations{};
  /// Every shards-th configuration of the space alone, from the number of the shard on, so that
  /// several processes divide a space.
  std::size_t shard = 0;
  std::size_t shards = 1;  ///< one: the whole space

  /// True if nothing else is to be tried, even if none of them works.
  bool is_strict() const noexcept { return !configurations.empty() || shards > 1; }
};

/// Returns the numbers of the configurations that are in the space, each once, in their order.
/// Configurations with other fields count as not there.
std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem);

/// Returns the numbers of the chosen configurations; none: the strategy decides.
/// @throws argument_error if the choice is strict and nothing of it is in the space
std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device);

}  // namespace tune
