// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/tune/engine/verification.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {

/// Which configurations of a space a search tries, where that is not for the strategy to say. At
/// most one of the three is used.
struct trial_choice {
  /// A few to measure again; where none of them works, the whole space is searched.
  verification known{};
  /// These alone, in this order, as far as they are in the space.
  std::vector<std::vector<named_value>> configurations{};
  /// Every so-many-th of the space alone, from the number of the shard on: several processes divide
  /// a space so.
  std::size_t shard = 0;
  std::size_t shards = 1;  ///< one: the whole space

  /// Whether nothing else is to be tried, even if nothing of it works.
  bool is_strict() const noexcept { return !configurations.empty() || shards > 1; }
};

/// The numbers of the chosen configurations; none: the strategy decides.
/// @throws argument_error if the choice is strict and nothing of it is in the space
std::vector<std::size_t> list_of(const trial_choice& choice, const search_problem& problem,
                                 const device& device);

}  // namespace tune
