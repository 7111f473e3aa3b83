// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/device/device.hpp"

namespace tune::operations {

/// Returns the bytes that an operation bound by memory reads or writes while it is tuned: more than
/// four times the device's last cache, so that global memory is what is measured, and no more than
/// an eighth of the memory or what one buffer may hold.
std::size_t workload_bytes(const device& device);

}  // namespace tune::operations
