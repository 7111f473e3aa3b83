// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/cuda/memory.hpp"

namespace tune::cuda {

/// Enqueues the calls that a copy needs: one where the shape allows it. The context is current.
/// Copies of ordinary host memory return when it may be used again; those of pinned memory at once.
/// @throws device_error
void enqueue_copy(const cuda_context& context, CUstream stream,
                  const detail::copy_request& request);

}  // namespace tune::cuda
