// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace tune::testing {

/// Calls test with a fake device and with each of test_devices(), as a doctest subcase of its own.
inline void for_every_device(const fake_device& fake, void (*test)(const device&)) {
  DOCTEST_SUBCASE("on the fake device") { test(fake.device()); }
  for (const device& item : test_devices()) {
    const std::string label = "on " + item.info().backend + " device " + item.name();
    DOCTEST_SUBCASE(label.c_str()) { test(item); }
  }
}

}  // namespace tune::testing

/// A test case that runs on a fake device without kernels, and on each device of the machine.
#define EVERY_DEVICE_TEST_CASE(name, parameter) \
  EVERY_DEVICE_TEST_CASE_AND(::tune::testing::fake_device(), name, parameter)
/// The same with a given fake device, which has the kernels that the test case needs.
#define EVERY_DEVICE_TEST_CASE_AND(fake, name, parameter) \
  EVERY_DEVICE_TEST_CASE_DETAIL(DOCTEST_ANONYMOUS(every_device_test_), fake, name, parameter)
// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be put in parentheses
#define EVERY_DEVICE_TEST_CASE_DETAIL(function, fake, name, parameter)           \
  static void function(const ::tune::device& parameter);                         \
  DOCTEST_TEST_CASE(name) { ::tune::testing::for_every_device(fake, function); } \
  static void function(const ::tune::device& parameter)
// NOLINTEND(bugprone-macro-parentheses)
