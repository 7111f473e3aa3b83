// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "libtune/device/device.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Tries one configuration alone: limits, generate, warm-up, check, samples. It runs with the
/// device lease. Returns a failure as an outcome with a reason. A known failure is not repeated:
/// the trial has its outcome and reason.
/// @param wait  the longest wait for the device lease
/// @throws only tuning_stopped_error, if the tuning is stopped meanwhile
trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const known_failures& known = {}, std::chrono::milliseconds wait = default_wait);

}  // namespace tune
