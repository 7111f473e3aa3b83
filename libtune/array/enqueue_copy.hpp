// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The commands that copy and fill regions of arrays.
#pragma once

#include <cstddef>
#include <span>

#include "libtune/array/region.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/interface.hpp"

namespace tune::detail {

/// Enqueues a copy between two regions of one shape and type (not checked), of which the sides name
/// the memory only. Allocates nothing. A blocking copy waits once, however many commands it takes,
/// and also before it throws, so that the host memory is never used after the return.
void enqueue_copy(command_queue& queue, const copy_side& source, const strided_layout& from,
                  const copy_side& destination, const strided_layout& to, bool blocking);

/// Enqueues filling the elements of a region with a pattern that divides them.
void enqueue_fill(command_queue& queue, const buffer& buffer, const strided_layout& selected,
                  std::span<const std::byte> pattern);

}  // namespace tune::detail
