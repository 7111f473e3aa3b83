// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>

#include "libtune/measure/measure.hpp"
#include "libtune/measure/timing/measure_settings.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/steadiness.hpp"

namespace tune {

/// Tells the wall-clock time. Tests give one of their own.
using wall_clock = std::function<std::chrono::steady_clock::time_point()>;

/// Measures a configuration that has had its warm-up run: one timed run to plan the number of
/// iterations, which is no sample, and then the samples, in batches; each sample the mean of so
/// many runs as the timer makes necessary.
/// @throws argument_error if the settings contradict themselves, and what measure::sample throws
samples take_samples(measure& of, const measure_settings& settings = {},
                     const wall_clock& now = std::chrono::steady_clock::now);

/// What came of a warm_up.
struct warm_up_report {
  bool steady;       ///< or the time was up
  std::size_t runs;  ///< that were made
};

/// Runs a configuration until the device is steady: once before the first configuration of a search
/// is measured, with one that is sure to work, and again after the device has idled for long.
/// @throws argument_error if the settings make no sense, and what measure::sample throws
warm_up_report warm_up(measure& by, const steadiness_settings& settings = {},
                       const wall_clock& now = std::chrono::steady_clock::now);

}  // namespace tune
