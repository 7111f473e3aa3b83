// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "libtune/cuda/memory.hpp"

namespace tune::cuda {

/// Enqueues the calls that a copy needs: one where the shape allows it. The context is current.
/// Copies of ordinary host memory return when it may be used again; those of pinned memory at once.
/// @throws device_error
void enqueue_copy(const cuda_context& context, CUstream stream,
                  const detail::copy_request& request);

/// Enqueues the calls that repeat a pattern over a range; the context is current.
/// The size of the pattern is 1, 2, 4, 8 or 16 and divides bytes, and the range is aligned to it.
/// @throws device_error
void enqueue_fill(const cuda_context& context, CUstream stream, CUdeviceptr start,
                  std::size_t bytes, std::span<const std::byte> pattern);

}  // namespace tune::cuda
