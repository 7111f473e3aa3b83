// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/correlate/tile_plan.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <tuple>
#include <utility>

#include "libtune/device/kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t block_antennas = 8;
constexpr std::size_t no_block = 0xffff;  // beyond all antennas

std::size_t useful_blocks(std::size_t blocks, std::size_t m_block, std::size_t n_block,
                          const tile_plan& plan) {
  std::size_t useful = 0;
  for (std::size_t m = m_block; m < std::min(m_block + plan.tile_m, blocks); ++m) {
    for (std::size_t n = n_block; n < n_block + plan.tile_n; ++n) useful += n <= m ? 1 : 0;
  }
  return useful;
}

std::vector<baseline_tile> all_tiles(std::size_t antennas, const tile_plan& plan) {
  const std::size_t blocks = divide_up(antennas, block_antennas);
  std::vector<baseline_tile> tiles;
  for (std::size_t m = 0; m < blocks; m += plan.tile_m) {
    for (std::size_t n = 0; n < std::min(m + plan.tile_m, blocks); n += plan.tile_n) {
      tiles.push_back({m, n, useful_blocks(blocks, m, n, plan)});
    }
  }
  return tiles;
}

/// The blocks of antennas that tiles need. The blocks of one tile are contiguous.
std::vector<std::size_t> staged_blocks(const std::vector<baseline_tile>& tiles,
                                       const tile_plan& plan) {
  std::vector<std::size_t> staged;
  for (const baseline_tile& tile : tiles) {
    for (std::size_t i = 0; i < plan.tile_m; ++i) staged.push_back(tile.m_block + i);
    for (std::size_t i = 0; i < plan.tile_n; ++i) staged.push_back(tile.n_block + i);
  }
  std::ranges::sort(staged);
  staged.erase(std::unique(staged.begin(), staged.end()), staged.end());
  return staged;
}

/// Assigns the heaviest tiles first, each to the scheduler with the least work and a free warp.
void balance(std::vector<baseline_tile>& tiles) {
  constexpr std::size_t schedulers = 4;
  std::ranges::stable_sort(tiles, std::ranges::greater(), &baseline_tile::useful);
  std::vector<baseline_tile> placed(tiles.size(), baseline_tile{});
  std::array<std::size_t, schedulers> work{};
  std::array<std::size_t, schedulers> next{0, 1, 2, 3};
  for (const baseline_tile& tile : tiles) {
    std::size_t least = schedulers;
    for (std::size_t i = 0; i < schedulers; ++i) {
      if (next.at(i) < tiles.size() && (least == schedulers || work.at(i) < work.at(least))) {
        least = i;
      }
    }
    placed[next.at(least)] = tile;
    next.at(least) += schedulers;
    work.at(least) += tile.useful;
  }
  tiles = std::move(placed);
}

/// Makes groups of consecutive tiles in rectangles with the given number of rows of tiles.
std::vector<tile_plan::group> cut(std::vector<baseline_tile> tiles, std::size_t rows,
                                  std::size_t groups, const tile_plan& plan) {
  const std::size_t warps = divide_up(tiles.size(), groups);
  const std::size_t columns = divide_up(warps, rows);
  std::ranges::sort(tiles, {}, [&](const baseline_tile& tile) {
    const std::size_t row = tile.m_block / plan.tile_m;
    const std::size_t column = tile.n_block / plan.tile_n;
    return std::tuple(row / rows, column / columns, row, column);
  });
  std::vector<tile_plan::group> made;
  for (std::size_t begin = 0; begin < tiles.size(); begin += warps) {
    const auto first = tiles.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(warps, tiles.size() - begin));
    made.push_back({.tiles = {first, first + count}, .staged = {}});
    made.back().staged = staged_blocks(made.back().tiles, plan);
  }
  return made;
}

std::size_t staged_count(const std::vector<tile_plan::group>& groups) {
  std::size_t count = 0;
  for (const tile_plan::group& item : groups) count += item.staged.size();
  return count;
}

std::size_t slot_of(const tile_plan::group& group, std::size_t block) {
  const auto at = std::ranges::lower_bound(group.staged, block);
  return static_cast<std::size_t>(at - group.staged.begin());
}

std::string table(const char* name, const std::vector<std::size_t>& values) {
  return fmt::format("CONSTANT_DECL uint {}[{}] = {{{}}};\n", name, values.size(),
                     fmt::join(values, ", "));
}

}  // namespace

std::size_t tile_plan::warps() const noexcept {
  std::size_t most = 0;
  for (const group& item : groups) most = std::max(most, item.tiles.size());
  return most;
}

std::size_t tile_plan::slots() const noexcept {
  std::size_t most = 0;
  for (const group& item : groups) most = std::max(most, item.staged.size());
  return block_antennas * most;
}

std::string tile_plan::text() const {
  const std::size_t group_blocks = slots() / block_antennas;
  std::vector<std::size_t> blocks;
  std::vector<std::size_t> places;
  std::vector<std::size_t> staged;
  std::vector<std::size_t> counts;
  for (const group& item : groups) {
    for (std::size_t warp = 0; warp < warps(); ++warp) {
      const bool has = warp < item.tiles.size();
      const baseline_tile tile = has ? item.tiles[warp] : baseline_tile{0, no_block, 0};
      blocks.push_back(tile.m_block + (tile.n_block << 16));
      places.push_back(has ? slot_of(item, tile.m_block) + (slot_of(item, tile.n_block) << 16) : 0);
    }
    staged.insert(staged.end(), item.staged.begin(), item.staged.end());
    staged.resize(staged.size() + group_blocks - item.staged.size());
    counts.push_back(item.staged.size());
  }
  return fmt::format("#define GROUPS {}\n#define WARPS {}\n#define SLOTS {}\n", groups.size(),
                     warps(), slots()) +
         table("tile_blocks", blocks) + table("tile_slots", places) +
         table("staged_blocks", staged) + table("staged_counts", counts);
}

std::size_t tile_count(std::size_t antennas, std::size_t tile_m, std::size_t tile_n) noexcept {
  const std::size_t blocks = divide_up(antennas, block_antennas);
  std::size_t count = 0;
  for (std::size_t m = 0; m < blocks; m += tile_m) {
    count += divide_up(std::min(m + tile_m, blocks), tile_n);
  }
  return count;
}

std::size_t group_count(std::size_t tiles, std::size_t most_warps) noexcept {
  return divide_up(tiles, most_warps);
}

tile_plan plan_tiles(std::size_t antennas, std::size_t tile_m, std::size_t tile_n,
                     std::size_t most_warps) {
  tile_plan plan{.groups = {}, .tile_m = tile_m, .tile_n = tile_n};
  const std::vector<baseline_tile> tiles = all_tiles(antennas, plan);
  const std::size_t groups = group_count(tiles.size(), most_warps);
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t rows = 1; rows <= most_warps; rows *= 2) {
    std::vector<tile_plan::group> tried = cut(tiles, rows, groups, plan);
    const std::size_t count = staged_count(tried);
    if (count >= least) continue;
    least = count;
    plan.groups = std::move(tried);
  }
  for (tile_plan::group& item : plan.groups) balance(item.tiles);
  return plan;
}

}  // namespace tune::operations
