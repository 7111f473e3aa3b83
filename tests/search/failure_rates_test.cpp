// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/failure_rates.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

namespace failure_rates_test {

using tune::detail::failure_rates;
using point = std::vector<std::uint32_t>;

TEST_CASE("what was never seen is expected to succeed as all do") {
  failure_rates rates;
  CHECK(rates.success(0, 3) == 1);
  rates.learn(point{1, 2}, true);
  CHECK(rates.success(0, 7) == 1);
  CHECK(rates.success(5, 0) == 1);
}

TEST_CASE("a candidate that always fails is expected to, the more often it was seen") {
  failure_rates rates;
  double before = 1;
  for (int i = 0; i < 20; ++i) {
    rates.learn(point{0, 0}, false);
    rates.learn(point{1, 0}, true);
    const double now = rates.success(0, 1);
    CHECK(now < before);
    before = now;
  }
  CHECK(before < 0.1);
  CHECK(rates.success(0, 0) == 1);
  CHECK(rates.success(1, 0) == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("where all fail alike no candidate is to blame") {
  failure_rates rates;
  for (std::uint32_t i = 0; i < 100; ++i) rates.learn(point{i % 5, i % 2}, i % 10 < 5);
  for (std::uint32_t i = 0; i < 2; ++i) CHECK(rates.success(1, i) > 0.7);
}

}  // namespace failure_rates_test
