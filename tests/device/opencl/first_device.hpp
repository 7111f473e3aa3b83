// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The OpenCL device that the tests of the backend itself run on.
#pragma once

#include <memory>
#include <optional>

#include "libtune/device/opencl/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace opencl_tests {

/// The first OpenCL device; none, and the test case is skipped, where there is none.
inline std::optional<tune::device> first_device() {
  for (const tune::device& item : tune::testing::test_devices()) {
    if (item.info().backend == "OpenCL") return item;
  }
  tune::testing::skip("this machine has no OpenCL device");
  return std::nullopt;
}

/// Its handle, for calls of OpenCL.
inline cl::Device handle_of(const tune::device& device) {
  return static_cast<const tune::opencl::opencl_device&>(*device.impl()).handle();
}

}  // namespace opencl_tests
