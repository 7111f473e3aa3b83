// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <stdexcept>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

TEST_CASE("passes") { CHECK(true); }

TEST_CASE("fails") { CHECK(false); }

TEST_CASE("skips") { tune::testing::skip("it is only a sample"); }

TEST_CASE("skips after an assertion") {
  CHECK(true);
  tune::testing::skip("enough was seen");
}

LIBTUNE_DEVICE_TEST_CASE("needs a device", device) { CHECK_FALSE(device.name().empty()); }

LIBTUNE_DEVICE_TEST_CASE("throws on a device", device) {
  INFO("the device is called " << device.name());
  throw std::runtime_error("it was thrown");
}

LIBTUNE_DEVICE_TEST_CASE("requires on a device", device) { REQUIRE(device.name().empty()); }

LIBTUNE_DEVICE_TEST_CASE("needs a quantum device" *
                             tune::testing::only_on("a quantum device",
                                                    [](const tune::device&) { return false; }),
                         device) {
  FAIL("it runs on " << device.name());
}

LIBTUNE_DEVICE_TEST_CASE("needs OpenCL" * tune::testing::opencl_only(), device) {
  CHECK(device.info().backend == "OpenCL");
}

LIBTUNE_DEVICE_TEST_CASE("needs a CUDA device of the future" * tune::testing::cuda_only({999, 0}),
                         device) {
  FAIL("it runs on " << device.name());
}
