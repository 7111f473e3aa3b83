// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device_identity.hpp"

namespace tune {

/// Which of several devices stands in for another.
struct nearest_match {
  std::size_t index = 0;             ///< into the candidates
  std::vector<std::string> relaxed;  ///< the columns that need not match, in the order of relaxing
};

/// The candidate nearest to the wanted device; nothing if there are none.
///
/// What has to match is relaxed step by step, and the first step that leaves a candidate decides:
/// the driver version, then the platform too, then the device name too. Among those left, in
/// order, the one wins
///  1. whose name shares the longest prefix with the wanted one,
///  2. whose platform does,
///  3. whose driver version is nearest: the numbers in it are compared one by one, the first
///     difference decides, and a missing number counts as 0,
///  4. whose driver version is newer by the same numbers,
///  5. that comes first by name, platform and version, byte by byte.
/// So the answer does not depend on the order of the candidates.
std::optional<nearest_match> find_nearest(std::span<const device_identity> candidates,
                                          const device_identity& wanted);

}  // namespace tune
