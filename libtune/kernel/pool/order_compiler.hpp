// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/kernel/pool/serve.hpp"

namespace tune::worker {

/// Compiles with NVRTC and OpenCL, as the order's target says. Devices and contexts stay open for
/// the next order.
trade order_compiler();

}  // namespace tune::worker
