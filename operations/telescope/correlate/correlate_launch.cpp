// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/correlate/correlate_launch.hpp"

#include <algorithm>

namespace tune::operations {

using instruction = correlate_instruction;

std::size_t tile_warps(const correlate_tuning& tuning) noexcept {
  return tuning.instruction == instruction::wgmma_k32 ? 4 : 1;
}

tile_plan plan_for(const correlate_key& key, const correlate_tuning& tuning) {
  return plan_tiles(key.antennas, tuning.tile_m, tuning.tile_n, tuning.warps);
}

std::size_t local_memory_bytes(const correlate_key& key, const correlate_tuning& tuning,
                               const tile_plan& plan) {
  constexpr std::size_t block_sums_bytes = std::size_t{64} * 8 * 4;
  constexpr std::size_t sorted_step_bytes = step_spectra * 4;  // bytes of an antenna, unpacked
  const std::size_t sums_bytes = plan.warps() * tile_warps(tuning) * block_sums_bytes;
  const bool is_wgmma = tuning.instruction == instruction::wgmma_k32;
  if (is_wgmma && tuning.tile_n == 8) {
    constexpr std::size_t sorted_chunks = 4;
    // Includes the padding that separates steps in memory banks.
    const std::size_t chunk_bytes = tuning.steps * sorted_step_bytes * plan.slots() + 128;
    return std::max(sorted_chunks * chunk_bytes, sums_bytes);
  }
  const bool prepares = tuning.prepares && tuning.instruction != instruction::plain;
  const std::size_t prepared = is_wgmma ? 2 : prepares ? 6 : 0;
  const std::size_t stage_bytes =
      tuning.stages * step_spectra * word_bytes(key) + prepared * sorted_step_bytes;
  return std::max(stage_bytes * tuning.steps * plan.slots(), sums_bytes) +
         2 * tuning.stages * sizeof(std::uint64_t);  // barriers
}

std::size_t wanted_copies(const device& device, const correlate_key& key,
                          const correlate_tuning& tuning) {
  const std::size_t groups =
      group_count(tile_count(key.antennas, tuning.tile_m, tuning.tile_n), tuning.warps);
  const std::size_t wanted = device.limits().compute_units * tuning.waves;
  return std::clamp<std::size_t>(wanted / (groups * key.channels), 1, 1024);
}

}  // namespace tune::operations
