// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// Tries one configuration, alone: limits, generate, warm-up, check, samples. Whatever goes wrong
/// is an outcome with a reason; nothing is thrown. Nobody else measures on the device meanwhile.
/// What is known not to compile is not compiled: its outcome and reason are those of then.
/// @param wait  how long to wait for those who measure on the device
trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const known_failures& known = {}, std::chrono::milliseconds wait = default_wait);

}  // namespace tune
