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
  std::size_t useful;   ///< of its blocks, those in which a1 <= a2 occurs
};

/// The division of the baselines of one channel among work groups and their warps.
struct tile_plan {
  /// A work group.
  struct group {
    std::vector<baseline_tile> tiles;  ///< of its warps, in their order
    std::vector<std::size_t> staged;   ///< the blocks that its tiles need, ascending
  };

  std::vector<group> groups;  ///< all of them
  std::size_t tile_m;         ///< blocks of a tile, along a2
  std::size_t tile_n;         ///< and along a1

  /// The warps of the largest group.
  std::size_t warps() const noexcept;
  /// The antennas of the group that needs most, a multiple of 8.
  std::size_t slots() const noexcept;
  /// The macros and tables that the kernel takes it by.
  std::string text() const;
};

/// The number of tiles that cover all baselines.
std::size_t tile_count(std::size_t antennas, std::size_t tile_m, std::size_t tile_n) noexcept;

/// The number of groups that have so many tiles, with as many warps as that at most.
std::size_t group_count(std::size_t tiles, std::size_t most_warps) noexcept;

/// Divides tiles into groups of equal size, so that the groups together need few antennas, and
/// gives them to the warps of a group so that the four schedulers of a multiprocessor have about
/// equal work.
tile_plan plan_tiles(std::size_t antennas, std::size_t tile_m, std::size_t tile_n,
                     std::size_t most_warps);

}  // namespace tune::operations
