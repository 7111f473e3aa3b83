// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::opencl {

/// Whether a device is one of PoCL, which compiles a kernel anew for each local size, when it is
/// first launched with that.
bool is_pocl(const device_info& device) noexcept;

/// The binary of a program of PoCL with what launches of these shapes will need; if none is given,
/// what launches of kernels with a required work group size will need. A local size of 0, 0, 0
/// stands for the required one too. The same is left in PoCL's kernel cache, where programs find it
/// that exist already.
/// For helper processes: it forks, for PoCL 3.1 is told of shapes by an environment variable of
/// which it remembers the first value. A signal that kills the child kills the caller.
std::vector<std::byte> pocl_binary(const program& made, std::span<const nd_range> launches);

}  // namespace tune::opencl
