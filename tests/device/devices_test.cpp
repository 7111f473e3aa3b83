// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/devices.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace devices_test {

TEST_CASE("a backend is available or says why not") {
  std::size_t devices = 0;
  for (const tune::backend_status& backend : tune::backends()) {
    CAPTURE(backend.name);
    CHECK(backend.available == (backend.devices > 0));
    CHECK(backend.available == backend.reason.empty());
    devices += backend.devices;
  }
  CHECK(devices == tune::all_devices().size());
}

TEST_CASE("every backend that libtune knows is listed, CUDA first") {
  const auto backends = tune::backends();
  REQUIRE(backends.size() == 2);
  CHECK(backends[0].name == "CUDA");
  CHECK(backends[1].name == "OpenCL");
}

TEST_CASE("asking twice gives the same devices in the same order") {
  CHECK(tune::all_devices() == tune::all_devices());
  CHECK(tune::take_inventory().all() == tune::all_devices());
}

}  // namespace devices_test
