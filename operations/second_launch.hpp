// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libtune/device/kernel.hpp"

namespace tune::operations {

/// Returns the number of parts into which consecutive rounds of loads are divided to give work to
/// more work groups, if a second launch combines the results of parts; 1 if that launch takes
/// longer than the rounds that it saves.
/// @param rounds    of a group without a division
/// @param shortest  the fewest rounds of a part
/// @param wanted    the number of parts that keeps the device busy
inline std::uint32_t parts_for_second_launch(std::size_t rounds, std::size_t shortest,
                                             std::size_t wanted) noexcept {
  constexpr std::size_t most = 4096;
  // On an H200 a round that waits for the previous one takes 0.19 us, another launch 2.3 us.
  constexpr std::size_t rounds_of_launch = 12;
  const std::size_t parts = std::min({rounds / shortest, wanted, most});
  if (parts < 2 || rounds - divide_up(rounds, parts) < rounds_of_launch) return 1;
  return static_cast<std::uint32_t>(parts);
}

}  // namespace tune::operations
