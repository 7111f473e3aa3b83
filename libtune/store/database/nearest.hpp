// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/match.hpp"

namespace tune {

/// A device that stands in for another.
struct nearest_match {
  std::size_t index = 0;                ///< into the candidates
  match_step step = match_step::exact;  ///< how it differs
  std::vector<std::string> relaxed{};  ///< the columns that differ, as differing_columns gives them
};

/// Returns the step by which the candidate differs from the wanted device.
match_step step_between(const device_identity& candidate, const device_identity& wanted);

/// The candidates from the nearest to the farthest: by step, and within a step the most alike
/// device first, then the newest. In order, these decide:
///  1. the step;
///  2. the length of the beginning that the architecture shares with the wanted one ("sm_90"), the
///     longer the better;
///  3. the same of the name;
///  4. the number of columns that differ, the fewer the better;
///  5. the newer driver, by the numbers in its version;
///  6. the columns in their order, so that the answer does not depend on the candidates' order.
/// Equal candidates keep their order.
std::vector<nearest_match> rank_nearest(std::span<const device_identity> candidates,
                                        const device_identity& wanted);

}  // namespace tune
