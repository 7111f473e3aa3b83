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

/// The trials of a search for a similar key, or for the same key on a similar device. The numbers
/// of configurations have the same meaning in all compared searches.
struct similar_search {
  /// The distance from the key and device that need seeds; not negative, smaller is more similar.
  double distance = 0;
  /// True if it covered the whole space, so that its best is the best of the space, within the
  /// accuracy of a search.
  bool is_whole = false;
  /// True if it tried all configurations: one without an entry in times is not in its space.
  bool has_all = false;
  /// The times of configurations, in any unit; infinite for one that failed.
  std::unordered_map<std::size_t, double> times{};

  /// The smallest time; infinite without times.
  double best() const;
  /// The time of a configuration relative to the smallest, less 1: 0.05 is 5 % slower. Infinite if
  /// it failed, empty if its time is unknown.
  std::optional<double> loss(std::size_t configuration) const;
};

/// The loss of a search that stops after its first seeds.
struct seed_loss {
  double expected = 0;  ///< the mean; 0.05 is 5 % slower than the best
  /// Nine of ten searches lose at most this (loss_bound); infinite if there are too few searches.
  double bound = 0;
};

/// The largest number of seeds that a search tries.
inline constexpr std::size_t most_seeds = 16;
/// The part of the searches whose loss is at most seed_loss::bound.
inline constexpr double seed_coverage = 0.9;

/// Returns the configurations to try first, the most promising first: greedily the one that leaves
/// the smallest losses at the similar searches, weighted by similarity. When each search has its
/// best, the selection starts over with the remaining configurations.
/// @param searches  in any order
/// @param most      the largest number of seeds
std::vector<std::size_t> rank_seeds(std::span<const similar_search> searches, std::size_t most);

/// Returns the losses after the first seed, after the second and so on, by cross-validation: each
/// whole search is left out in turn, and the best of its first seeds is compared with its best.
/// Searches nearer to it than the nearest whole search is to the given key are left out, too, so
/// that as little is known as for the given key. Seeds outside its space are skipped, as in a real
/// search.
/// @param searches  as for rank_seeds
/// @param between   returns the distance between two searches, given their indices
/// @param most      the largest number of seeds
/// @param judges    set to the number of whole searches that were left out in turn
std::vector<seed_loss> losses_of_seeds(
    std::span<const similar_search> searches,
    const std::function<double(std::size_t, std::size_t)>& between, std::size_t most,
    std::size_t& judges);

}  // namespace tune
