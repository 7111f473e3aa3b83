// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/device/context.hpp"

namespace tune::cuda {

/// Reads hardware counters of the launches of a function, by CUPTI's range profiler, which the
/// first call loads: throughput of memory and of the multiprocessors, occupancy, and the shares of
/// the reasons for waiting warps, if 1 % or more.
/// @param run  launches in this context, and waits for the end; called once for each pass that the
///             counters need, about fifteen times
/// @throws no_device_error without the CUDA backend, argument_error if the context is not a CUDA
///         context, error with the reason if CUPTI is not installed or access to the counters is
///         denied, and exceptions of run
std::vector<metric> read_counters(const context& context, const std::function<void()>& run);

/// Returns CUPTI's names for the counters of a chip, for tests.
/// @param chip  "GH100"
/// @throws error if CUPTI is not installed or does not know the chip
std::vector<std::string> counter_names(const std::string& chip);

}  // namespace tune::cuda
