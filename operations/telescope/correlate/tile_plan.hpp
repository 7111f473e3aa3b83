// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// A warp's part of the baselines: blocks of 8 antennas a2 times blocks of 8 antennas a1.
struct baseline_tile {
  std::size_t m_block;  ///< the first block of antennas a2
  std::size_t n_block;  ///< the first block of antennas a1
  std::size_t useful;   ///< number of its blocks with pairs a1 <= a2
};

/// The division of the baselines of one channel among work groups and their warps.
struct tile_plan {
  /// A work group.
  struct group {
    std::vector<baseline_tile> tiles;  ///< one for each of its warps, in their order
    std::vector<std::size_t> staged;   ///< the blocks that its tiles need, ascending
  };

  std::vector<group> groups;  ///< all of them
  std::size_t tile_m;         ///< blocks of a tile along a2
  std::size_t tile_n;         ///< blocks of a tile along a1

  /// The number of warps of the largest group.
  std::size_t warps() const noexcept;
  /// The largest number of antennas that a group needs, a multiple of 8.
  std::size_t slots() const noexcept;
  /// The macros and tables for the kernel.
  std::string text() const;
};

/// The number of tiles that cover all baselines.
std::size_t tile_count(std::size_t antennas, std::size_t tile_m, std::size_t tile_n) noexcept;

/// The number of groups for this many tiles, with at most this many warps each.
std::size_t group_count(std::size_t tiles, std::size_t most_warps) noexcept;

/// Divides tiles into groups of equal size, so that the groups together need few antennas, and
/// distributes them among the warps of a group so that the four schedulers of a multiprocessor have
/// about equal work.
tile_plan plan_tiles(std::size_t antennas, std::size_t tile_m, std::size_t tile_n,
                     std::size_t most_warps);

}  // namespace tune::operations
