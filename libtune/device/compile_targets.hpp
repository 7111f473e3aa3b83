// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune {

/// The devices that a text means, to compile for and not to run on:
///
///   "cuda sm_90"  NVIDIA devices of this generation; NVRTC has to be there, a GPU need not
///   "cuda"        the same, sm_75 and sm_90, which differ most
///   "opencl"      each OpenCL device of this machine
///
/// Templates that are constructed with a context of one compile their kernels; what would need the
/// device is a device_error.
/// @throws no_device_error if there is none, with what is missing; argument_error for another text
std::vector<device> compile_targets(std::string_view target);

}  // namespace tune
