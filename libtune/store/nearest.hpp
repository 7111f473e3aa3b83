// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device_identity.hpp"
#include "libtune/store/match.hpp"

namespace tune {

/// A device that stands in for another.
struct nearest_match {
  std::size_t index = 0;               ///< into the candidates
  match_step step = match_step::none;  ///< how far matching had to be relaxed for it
  std::int64_t distance = 0;           ///< device_distance; compares within a step only
  std::vector<std::string> relaxed{};  ///< the columns that differ, in the order of relaxing
};

/// How far what has to match has to be relaxed for the candidate to do. A step relaxes everything
/// that those before it do:
///
///   driver         device_version
///   compiler       device_compiler
///   clocks         device_clock_mhz, device_memory_clock_mhz
///   memory         device_memory_gib, device_memory_bus_bits, device_cache_kib
///   compute_units  device_compute_units
///   limits         every column of legality
///   platform       device_platform
///   name           device_name, but no column of legality
///   device         all
///
/// So another driver of the same device comes before another platform of it, and that before any
/// other device; and of those, the ones that can run the same configurations come first.
match_step relaxation(const device_identity& candidate, const device_identity& wanted);

/// How much the hardware of two devices differs, from 0: the sum of what follows, in thousandths.
///  - 100 for another API;
///  - for another architecture with the same letters before its first digit: 1, and a tenth for
///  each
///    step between the first numbers that differ, 9 at most ("sm_80" to "sm_90": 2 in all);
///  - for one with other letters ("sm_90", "gfx90a"): 20, less a tenth for each character of the
///    common beginning, 9 at most;
///  - |log2(a/b)| for each of: work group size and its extents, local memory, dynamic local memory,
///    registers, SIMD group, compute units, memory size, bus, cache and clocks; 1 where only one of
///    the two is known.
std::int64_t device_distance(const device_identity& a, const device_identity& b);

/// The candidates from the nearest to the farthest. In order, these decide:
///  1. the relaxation;
///  2. the distance;
///  3. the length of the beginning that the name shares with the wanted one, the longer the better;
///  4. the same of the platform;
///  5. the driver version: the numbers in it are compared one by one, the first difference
///     decides, and a missing number counts as 0;
///  6. the newer driver version by the same numbers;
///  7. name, platform, version and then the other columns, byte by byte or by number.
/// So the answer does not depend on the order of the candidates; equal ones keep theirs.
std::vector<nearest_match> rank_nearest(std::span<const device_identity> candidates,
                                        const device_identity& wanted);

/// The first of them; nothing if there are no candidates.
std::optional<nearest_match> find_nearest(std::span<const device_identity> candidates,
                                          const device_identity& wanted);

}  // namespace tune
