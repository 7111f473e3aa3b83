// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>

#include "libtune/measure/measure.hpp"
#include "libtune/measure/measure_settings.hpp"
#include "libtune/measure/samples.hpp"

namespace tune {

/// Tells the wall-clock time. Tests give one of their own.
using wall_clock = std::function<std::chrono::steady_clock::time_point()>;

/// Measures a configuration that has had its warm-up run: one timed run to plan the number of
/// iterations, which is no sample, and then the samples, in batches.
/// @throws argument_error if the settings contradict themselves, and what measure::sample throws
samples take_samples(measure& of, const measure_settings& settings = {},
                     const wall_clock& now = std::chrono::steady_clock::now);

}  // namespace tune
