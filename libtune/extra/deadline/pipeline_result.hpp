// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"
#include "libtune/extra/deadline/pipeline_space.hpp"

namespace tune::detail {

/// The value of a result behind the knobs: tuned_knobs::rate.
inline constexpr const char* pipeline_rate_name = "kept_rate";

/// The key of a pipeline's results: that of the space, and the goal.
std::vector<named_value> pipeline_key(const pipeline_space& space, const pipeline_goal& goal);
/// The values of a result.
std::vector<named_value> pipeline_values(const configuration& knobs, double rate);

/// Stores knobs as the result that tune_pipeline returns for this space, goal and device, unless
/// the context's options or a test forbid it. An error of the database is a warning.
void store_pipeline_result(const context& where, const pipeline_space& space,
                           const pipeline_goal& goal, const configuration& knobs);

}  // namespace tune::detail
