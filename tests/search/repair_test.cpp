// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/repair.hpp"

#include <doctest/doctest.h>
#include <set>
#include <vector>

#include "tests/search/sample_spaces.hpp"

namespace repair_test {

using tune::detail::random_source;
using tune::detail::untried_near;

TEST_CASE("a point becomes the closest configuration") {
  random_source random(1);
  const std::vector<double> point{41.7};
  CHECK(untried_near(
            tune::testing::line(100), point, [](std::size_t) { return false; }, random) == 42);
  const std::vector<double> outside{-7};
  CHECK(untried_near(
            tune::testing::line(100), outside, [](std::size_t) { return false; }, random) == 0);
}

TEST_CASE("if that has been tried, it becomes another that has not") {
  random_source random(1);
  const std::vector<double> point{4};
  const std::set<std::size_t> tried{0, 1, 2, 4};
  const auto found = untried_near(
      tune::testing::line(6), point, [&](std::size_t i) { return tried.contains(i); }, random);
  REQUIRE(found);
  CHECK_FALSE(tried.contains(*found));
}

TEST_CASE("where all have been tried there is none") {
  random_source random(1);
  const std::vector<double> point{4};
  CHECK_FALSE(untried_near(
      tune::testing::line(6), point, [](std::size_t) { return true; }, random));
}

}  // namespace repair_test
