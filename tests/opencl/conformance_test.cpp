// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/backend_conformance.hpp"
#include "libtune/testing/devices.hpp"

LIBTUNE_DEVICE_TEST_CASE("the OpenCL backend does what every backend has to", device) {
  if (device.info().backend == "OpenCL") tune::testing::check_backend_conformance(device);
}
