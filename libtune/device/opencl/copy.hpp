// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/interface.hpp"
#include "libtune/device/opencl/clhpp.hpp"

namespace tune::opencl {

/// Enqueues the calls that a copy needs: one where the shape allows it. @throws device_error
void enqueue_copy(const cl::CommandQueue& queue, const detail::copy_request& request,
                  const device_info& device);

}  // namespace tune::opencl
