// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/device.hpp"

namespace tune::testing {

/// Checks what every backend has to do, as one doctest subcase for each requirement. Call it from a
/// test case; a backend that does not is unfinished:
///   LIBTUNE_DEVICE_TEST_CASE("every backend conforms", device) {
///     tune::testing::check_backend_conformance(device);
///   }
/// A fake device needs add_conformance_kernels first.
void check_backend_conformance(const device& device);

}  // namespace tune::testing
