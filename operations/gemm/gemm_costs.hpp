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

/// The number of tiles of a product, with the rows and columns in the layout of C.
std::size_t tile_count(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept;

/// The division of a product among work groups that takes the least time for whole waves and for
/// adding the sums of parts of k. The first tiles have one group each. For the others k is divided
/// among several groups, so that the last wave is not nearly empty.
struct gemm_division {
  /// The most sums of all parts together.
  static constexpr std::size_t most_sums = std::size_t{1} << 26;

  /// For a product with rows and columns in the layout of C.
  gemm_division(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                std::size_t columns, std::size_t k);

  /// The number of tiles with divided k.
  std::size_t divided() const noexcept { return tiles - whole; }
  /// The number of units of work, one for a group at a time: whole tiles, and parts of divided
  /// ones.
  std::size_t works() const noexcept { return whole + divided() * parts; }
  /// The number of groups of clusters, which all run at once. Some may have no tile at the end.
  std::size_t groups_of_clusters() const noexcept {
    return divide_up(tiles, tiles_of_cluster) * tiles_of_cluster * cluster;
  }
  /// The sums of all parts; 0 if k is not divided.
  std::size_t sums() const noexcept { return parts * divided() * sums_of_tile; }

  std::size_t tiles;      ///< tiles of C
  std::size_t whole;      ///< tiles for which k is not divided
  std::size_t parts = 1;  ///< parts of k, for each other tile
  /// Groups that share k of each tile; with a cluster there are no parts.
  std::size_t cluster = 1;
  std::size_t tiles_of_cluster = 1;  ///< processed one after the other
  std::size_t part_of_k;             ///< the extent of k in a part
  std::size_t sums_of_tile;          ///< sums in a part: only the rows and columns inside of C
  double mean_of_tile;               ///< the average number of computed elements in a tile

 private:
  /// Divides k of the tiles in the last waves if that is faster. Returns the time, in steps of k of
  /// the groups that run at once.
  double divide_last_waves(std::size_t compute_units, const gemm_tuning& t, std::size_t k,
                           std::size_t waves) noexcept;
  /// Takes all tiles in clusters that run at once instead, if that is faster than this time.
  void form_clusters(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                     std::size_t columns, std::size_t k, double least) noexcept;
};

/// Returns the features of a portfolio's choice, in addition to m, n and k.
size_feature_list gemm_features(std::span<const std::uint64_t> sizes);

/// Returns the terms of a product's time: whole waves of groups, by the products of a compute unit
/// and by their number; the last wave, by elements and steps of k; the parts of k; the elements of
/// A and B; tiles of the same few columns. Then for wgmma the cycles of all steps and of waiting
/// for memory, the elements of C with the sums of parts, the elements of A, the groups of the
/// busiest part of the device, idle units, and the clusters; for other instructions the products of
/// the last wave, the sums of parts, the elements of A and of B that all tiles read, groups, parts,
/// and the elements of C.
cost_function gemm_costs(const gemm_key& key, const gemm_tuning& tuning,
                         const device_limits& limits);

}  // namespace tune::operations
