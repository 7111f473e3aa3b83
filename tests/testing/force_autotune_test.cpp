// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "libtune/tune/test_mode.hpp"

namespace force_autotune_test {

using tune::detail::current_test_mode;
using tune::detail::test_mode;
using tune::testing::force_autotune;

// doctest runs the test cases of a file in the order of their lines, so these also show that the
// mode is put back.
TEST_CASE("autotuners return their defaults in a plain test") {
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("the decorator forces autotuners to tune" * force_autotune()) {
  CHECK(current_test_mode() == test_mode::forced);
  SUBCASE("in a subcase") { CHECK(current_test_mode() == test_mode::forced); }
  SUBCASE("and in the next") { CHECK(current_test_mode() == test_mode::forced); }
}

TEST_CASE("autotuners return their defaults in the test after a forced one") {
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("other decorators stand beside it" * doctest::description("x") * force_autotune() *
          doctest::timeout(60)) {
  CHECK(current_test_mode() == test_mode::forced);
}

TEST_CASE_TEMPLATE("templates are forced too" * force_autotune(), T, int, float) {
  CHECK(current_test_mode() == test_mode::forced);
  CHECK(sizeof(T) == 4);
}

LIBTUNE_DEVICE_TEST_CASE("device tests are forced too" * force_autotune(), device) {
  CHECK(current_test_mode() == test_mode::forced);
}

}  // namespace force_autotune_test
