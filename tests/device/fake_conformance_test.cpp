// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/backend_conformance.hpp"
#include "libtune/testing/conformance_kernels.hpp"
#include "libtune/testing/fake_device.hpp"

TEST_CASE("the fake device does what every backend has to do") {
  const tune::testing::fake_device fake;
  tune::testing::add_conformance_kernels(fake);
  tune::testing::check_backend_conformance(fake.device());
}

TEST_CASE("a fake device without graphs does it too") {
  const tune::testing::fake_device fake({.command_graphs = false});
  tune::testing::add_conformance_kernels(fake);
  tune::testing::check_backend_conformance(fake.device());
}
