// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/skip.hpp"

TEST_CASE("passes") { CHECK(true); }

TEST_CASE("fails") { CHECK(false); }

TEST_CASE("skips") { tune::testing::skip("it is only a sample"); }

TEST_CASE("skips after an assertion") {
  CHECK(true);
  tune::testing::skip("enough was seen");
}

LIBTUNE_DEVICE_TEST_CASE("needs a device", device) { CHECK_FALSE(device.name().empty()); }
