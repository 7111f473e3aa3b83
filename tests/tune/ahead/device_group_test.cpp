// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/device_group.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"

namespace device_group_test {

using tune::testing::fake_device;

TEST_CASE("devices of one identity and backend form a group, in the order of their first") {
  const fake_device first;
  const fake_device newer({.identity = {"fake device", "fake platform", "2.0"}});
  const fake_device again;
  const fake_device elsewhere({.backend = "other"});
  const std::vector<tune::device> all{first.device(), newer.device(), again.device(),
                                      elsewhere.device()};
  const auto groups = tune::group_devices(all);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].devices == std::vector{first.device(), again.device()});
  CHECK(groups[1].info().identity.driver_version == "2.0");
  CHECK(groups[2].info().backend == "other");
}

TEST_CASE("no devices form no group") { CHECK(tune::group_devices({}).empty()); }

}  // namespace device_group_test
