// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The division of a product among work groups, and the costs of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "operations/gemm/gemm.hpp"

namespace tune::operations {

/// The tiles of a product, whose rows and columns are those of C's array.
std::size_t tile_count(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept;

/// The division of a product among work groups with which whole waves of them, and adding the sums
/// of parts of k, take the least time: the first tiles have a group each, and so that the last wave
/// is not nearly empty, k is divided among several groups for each of the others.
struct gemm_division {
  /// The sums that all parts have together, at most.
  static constexpr std::size_t most_sums = std::size_t{1} << 26;

  /// Of a product whose rows and columns are those of C's array.
  gemm_division(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                std::size_t columns, std::size_t k);

  /// The tiles for which k is divided.
  std::size_t divided() const noexcept { return tiles - whole; }
  /// Tiles, and parts of k of them: what a group makes at a time.
  std::size_t works() const noexcept { return whole + divided() * parts; }
  /// The groups of clusters, all of which run at once. Beside the last tile there may be none.
  std::size_t groups_of_clusters() const noexcept {
    return divide_up(tiles, tiles_of_cluster) * tiles_of_cluster * cluster;
  }
  /// The sums of all parts; 0 if k is not divided.
  std::size_t sums() const noexcept { return parts * divided() * sums_of_tile; }

  std::size_t tiles;                 ///< of C
  std::size_t whole;                 ///< of these, for which k is not divided
  std::size_t parts = 1;             ///< of k, for each of the others
  std::size_t cluster = 1;           ///< groups that share k of each tile; then there are no parts
  std::size_t tiles_of_cluster = 1;  ///< one after the other
  std::size_t part_of_k;             ///< the extent of k in a part
  std::size_t sums_of_tile;  ///< of a part: without the rows and columns that C does not have
  double mean_of_tile;       ///< the elements of a tile that are computed, on average
};

/// Returns the features that a portfolio chooses by, beside m, n and k.
size_feature_list gemm_features(std::span<const std::uint64_t> sizes);

/// Returns the numbers that a product's time grows with: whole waves of groups, by the products of
/// a compute unit and by their number; the last one, by elements and steps of k; the parts of k;
/// the elements of A and B; tiles of the same few columns. Then by wgmma the cycles of all steps
/// and of waiting for memory, the elements of C with the sums of parts, those of A, the groups of
/// the busiest part of the device, idle units, and the clusters; by others the products of the last
/// wave, the sums of parts, the elements of A and of B that all tiles read, groups, parts, and the
/// elements of C.
cost_function gemm_costs(const gemm_key& key, const gemm_tuning& tuning,
                         const device_limits& limits);

}  // namespace tune::operations
