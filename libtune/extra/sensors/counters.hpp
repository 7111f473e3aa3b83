// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/device/context.hpp"

namespace tune::cuda {

/// Reads hardware counters of what a function launches, by CUPTI's range profiler, which is loaded
/// by the first call: throughput of memory and of the multiprocessors, occupancy, and the shares of
/// the reasons for which warps wait, those of 1 % or more.
/// @param run  launches it in this context, and waits for its end; called once for each pass that
///             the counters need, about fifteen times
/// @throws no_device_error without the CUDA backend, argument_error if the context is not of CUDA,
///         error with the reason where CUPTI is not installed or the counters may not be read, and
///         what run throws
std::vector<metric> read_counters(const context& context, const std::function<void()>& run);

/// The names by which CUPTI knows the counters on a chip, for tests.
/// @param chip  "GH100"
/// @throws error if CUPTI is not installed or does not know the chip
std::vector<std::string> counter_names(const std::string& chip);

}  // namespace tune::cuda
