// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/device/device.hpp"

namespace tune::operations {

/// The bytes that a memory-bound operation reads or writes while it is tuned: more than four times
/// the device's last cache, so that global memory is measured, and at most an eighth of the memory
/// or the largest buffer.
std::size_t workload_bytes(const device& device);

}  // namespace tune::operations
