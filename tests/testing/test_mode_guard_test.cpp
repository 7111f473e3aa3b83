// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <stdexcept>

#include "libtune/testing/fixtures.hpp"

namespace test_mode_guard_test {

using tune::detail::current_test_mode;
using tune::testing::test_mode;
using tune::testing::test_mode_guard;

TEST_CASE("a guard sets the mode and puts back what was set before") {
  CHECK(current_test_mode() == test_mode::defaults);
  {
    const test_mode_guard off(test_mode::off);
    CHECK(current_test_mode() == test_mode::off);
    {
      const test_mode_guard forced(test_mode::forced);
      CHECK(current_test_mode() == test_mode::forced);
    }
    CHECK(current_test_mode() == test_mode::off);
  }
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("an exception puts the mode back") {
  const auto fail = [] {
    const test_mode_guard off(test_mode::off);
    throw std::runtime_error("x");
  };
  CHECK_THROWS_AS(fail(), std::runtime_error);
  CHECK(current_test_mode() == test_mode::defaults);
}

TEST_CASE("the fixture gives defaults to a program that has none") {
  const test_mode_guard no_test_main(test_mode::off);
  {
    const tune::testing::autotune_defaults fixture;
    CHECK(current_test_mode() == test_mode::defaults);
  }
  CHECK(current_test_mode() == test_mode::off);
}

}  // namespace test_mode_guard_test
