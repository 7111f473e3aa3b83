// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <vector>

#include "libtune/child/tuner_message.hpp"
#include "libtune/testing/fake_device.hpp"

namespace device_address_test {

using tune::device;
using tune::detail::address_of;
using tune::detail::find_device;

tune::testing::fake_device fake(const std::string& name) {
  tune::testing::fake_device_options options;
  options.identity = {name, "fake platform", "1.0"};
  return tune::testing::fake_device(options);
}

TEST_CASE("a device is found by its address, also among others that look the same") {
  const auto one = fake("one");
  const auto twin = fake("twin");
  const auto other_twin = fake("twin");
  const std::vector<device> all{twin.device(), one.device(), other_twin.device()};
  for (const device& wanted : all) {
    const auto address = address_of(wanted, all);
    REQUIRE(address);
    const auto found = find_device(*address, all);
    REQUIRE(found);
    CHECK(*found == wanted);
  }
}

TEST_CASE("a device that is not one of them has no address, and no address leads to it") {
  const auto one = fake("one");
  const auto two = fake("two");
  const std::vector<device> all{one.device()};
  CHECK_FALSE(address_of(two.device(), all));
  const std::vector<device> others{two.device()};
  CHECK_FALSE(find_device(*address_of(two.device(), others), all));
}

TEST_CASE("another driver is another device") {
  const auto one = fake("one");
  const std::vector<device> all{one.device()};
  auto address = *address_of(one.device(), all);
  address.driver_version = "2.0";
  CHECK_FALSE(find_device(address, all));
}

TEST_CASE(
    "a device whose hardware is told differently is found by its name if that is the only one") {
  const auto one = fake("one");
  const auto twin = fake("twin");
  const auto other_twin = fake("twin");
  const std::vector<device> all{one.device(), twin.device(), other_twin.device()};
  auto address = *address_of(one.device(), all);
  address.uuid = "another each time";
  REQUIRE(find_device(address, all));
  CHECK(*find_device(address, all) == one.device());
  auto ambiguous = *address_of(twin.device(), all);
  ambiguous.uuid = "another each time";
  CHECK_FALSE(find_device(ambiguous, all));
}

TEST_CASE("what a process finds is told") {
  const auto one = fake("one");
  const std::vector<device> all{one.device()};
  CHECK(tune::detail::describe_all(all).find("one (") == 0);
  CHECK(tune::detail::describe_all({}) == "none");
}

}  // namespace device_address_test
