// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/device/cuda/kernel.hpp"

namespace tune::cuda {

/// What a launch asks for beyond the limits of kernel and device; empty if nothing.
std::string describe_excess(const nd_range& range, const kernel_info& kernel,
                            const device_limits& limits);

/// Throws the device_error of a launch that the driver refused: the driver does not say what was
/// too much, nor even that something was, so it is looked for here.
[[noreturn]] void throw_launch_error(CUresult code, const cuda_kernel& kernel,
                                     const nd_range& range);

}  // namespace tune::cuda
