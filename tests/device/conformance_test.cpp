// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/conformance/backend_conformance.hpp"
#include "tests/conformance/conformance_kernels.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace conformance_test {

LIBTUNE_DEVICE_TEST_CASE("every backend does what it has to do", device) {
  tune::testing::check_backend_conformance(device);
}

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

TEST_CASE("a fake device with mapped memory or none does what every backend has to do") {
  for (const auto kind : {tune::managed_memory_kind::mapped, tune::managed_memory_kind::none}) {
    const tune::testing::fake_device fake({.managed_memory = kind});
    tune::testing::add_conformance_kernels(fake);
    for (const tune::testing::requirement& item : tune::testing::memory_requirements()) {
      CAPTURE(item.sentence);
      item.check(fake.device());
    }
  }
}

}  // namespace conformance_test
