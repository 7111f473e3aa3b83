// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/devices.hpp"

#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fake_device.hpp"

namespace devices_test {

using tune::testing::choose_devices;
using tune::testing::device_choice;

tune::device fake(const std::string& name, const std::string& backend) {
  return tune::testing::fake_device({.identity = {name, "p", "v"}, .backend = backend}).device();
}

std::string names(const std::vector<tune::device>& devices) {
  std::string all;
  for (const tune::device& device : devices) all += device.name();
  return all;
}

int device_runs = 0;

TEST_CASE("choices have names, and other words are refused with a list of them") {
  CHECK(tune::testing::device_choice_from_name("all") == device_choice::all);
  CHECK(tune::testing::device_choice_from_name("none") == device_choice::none);
  CHECK(tune::testing::device_choice_from_name("first-per-api") == device_choice::first_per_api);
  CHECK_THROWS_WITH_AS(tune::testing::device_choice_from_name("some"),
                       "--devices is 'some', expected first-per-api, all or none",
                       tune::argument_error);
}

TEST_CASE("a choice leaves the first device of each backend, all or none") {
  const std::vector<tune::device> devices{fake("a", "x"), fake("b", "y"), fake("c", "x"),
                                          fake("d", "y"), fake("e", "z")};
  CHECK(names(choose_devices(devices, device_choice::first_per_api)) == "abe");
  CHECK(names(choose_devices(devices, device_choice::all)) == "abcde");
  CHECK(choose_devices(devices, device_choice::none).empty());
  CHECK(choose_devices({}, device_choice::first_per_api).empty());
}

LIBTUNE_DEVICE_TEST_CASE("a device test runs on a device that exists", device) {
  ++device_runs;
  CHECK_FALSE(device.name().empty());
  CHECK(device_runs <= static_cast<int>(tune::testing::test_devices().size()));
}

LIBTUNE_DEVICE_TEST_CASE("a device test names its device as it likes", anything) {
  CHECK_FALSE(anything.name().empty());
}

}  // namespace devices_test
