// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The trials of a search for a similar key, or for the same on a similar device. Configurations
/// are numbers that mean the same in all searches that are compared.
struct similar_search {
  /// From the key and device for which seeds are wanted; not negative, less is more similar.
  double distance = 0;
  /// True if it went over the whole space, so that its best is the best that there is, as far as a
  /// search finds that.
  bool is_whole = false;
  /// True if it tried everything: a configuration without an entry in times is none of its space.
  bool has_all = false;
  /// The times of configurations, in any unit; infinite for one that failed.
  std::unordered_map<std::size_t, double> times{};

  /// The least time; infinite if there is none.
  double best() const;
  /// The time of a configuration over the least one, less 1: 0.05 is 5 % slower. Infinite if it
  /// failed, empty if its time is not known.
  std::optional<double> loss(std::size_t configuration) const;
};

/// The loss of a search that stops after its first seeds.
struct seed_loss {
  double expected = 0;  ///< the mean; 0.05 is 5 % slower than the best
  /// Nine of ten searches lose no more (loss_bound); infinite if too little is known to say.
  double bound = 0;
};

/// The number of seeds that a search tries at most.
inline constexpr std::size_t most_seeds = 16;
/// The part of the searches that stay below seed_loss::bound.
inline constexpr double seed_coverage = 0.9;

/// Returns the configurations to try first, the most promising one first: greedily each the one
/// after which the losses of the similar searches, the nearest counting most, are least; when all
/// have their best, the same over again with those that are left.
/// @param searches  in any order
/// @param most      how many at most
std::vector<std::size_t> rank_seeds(std::span<const similar_search> searches, std::size_t most);

/// Returns the losses after the first seed, after the second and so on: how far the best of so many
/// seeds was from the best of each whole search, had that been the one to find seeds for. It is
/// left out then, with all that is nearer to it than the nearest whole search is here, so that it
/// knows as little as the search that is asked about. Seeds that are none of its space are passed
/// over there as they are here.
/// @param searches  as for rank_seeds
/// @param between   returns the distance between two of them, by their places
/// @param most      how many seeds at most
/// @param judges    set to the number of whole searches that were asked
std::vector<seed_loss> losses_of_seeds(
    std::span<const similar_search> searches,
    const std::function<double(std::size_t, std::size_t)>& between, std::size_t most,
    std::size_t& judges);

}  // namespace tune
