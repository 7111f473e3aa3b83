// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The launch of a configuration of correlate, for the operation and for the search space.
#pragma once

#include <cstddef>

#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/tile_plan.hpp"

namespace tune::operations {

/// The spectra of a step.
inline constexpr std::size_t step_spectra = 16;
/// The work items of a warp.
inline constexpr std::size_t warp_items = 32;
/// The most tiles in constant memory.
inline constexpr std::size_t most_tiles = 4096;

/// Bytes of an antenna and a spectrum.
inline std::size_t word_bytes(const correlate_key& key) noexcept { return key.bits / 2; }

/// The warps that share a tile.
std::size_t tile_warps(const correlate_tuning& tuning) noexcept;

/// The division of the baselines among groups.
tile_plan plan_for(const correlate_key& key, const correlate_tuning& tuning);

/// The dynamic local memory of a group.
std::size_t local_memory_bytes(const correlate_key& key, const correlate_tuning& tuning,
                               const tile_plan& plan);

/// The number of copies of the accumulators that keeps a device busy over a long time.
std::size_t wanted_copies(const device& device, const correlate_key& key,
                          const correlate_tuning& tuning);

}  // namespace tune::operations
