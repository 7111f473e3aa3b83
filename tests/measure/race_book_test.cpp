// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/race_book.hpp"

#include <cmath>
#include <doctest/doctest.h>

#include "tests/measure/simulated_search.hpp"

namespace race_book_test {

using tune::pooled_spread;
using tune::run_time;
using tune::samples;

/// Learned from configurations of different speed, with so many samples each.
double learned(double spread, int size, double outliers = 0) {
  tune::testing::simulated_chance chance(3);
  pooled_spread pooled;
  for (int i = 0; i < 400; ++i) {
    samples drawn;
    const double speed = chance.uniform(1, 5);
    for (int k = 0; k < size; ++k) {
      const double outlier = chance.uniform() < outliers ? 2 : 1;
      drawn.add(run_time(1000 * speed * outlier * std::exp(spread * chance.normal())));
    }
    pooled.add(drawn);
  }
  return pooled.value();
}

TEST_CASE("the spread of runs is learned from configurations of different speed") {
  for (const int size : {2, 3, 4, 8}) {
    CAPTURE(size);
    CHECK(learned(0.01, size) == doctest::Approx(0.01).epsilon(0.2));
    CHECK(learned(0.05, size) == doctest::Approx(0.05).epsilon(0.2));
  }
}

TEST_CASE("outliers hardly move the pooled spread") {
  CHECK(learned(0.01, 4, 0.03) == doctest::Approx(0.01).epsilon(0.35));
}

TEST_CASE("without evidence the spread is what was assumed") {
  pooled_spread pooled(0.07);
  CHECK(pooled.value() == 0.07);
  pooled.add(samples({run_time(1)}));
  pooled.add(samples({run_time(1), run_time(NAN)}));
  CHECK(pooled.value() == 0.07);
}

TEST_CASE("a timer that always tells the same is not believed to be exact") {
  pooled_spread pooled;
  for (int i = 0; i < 20; ++i) pooled.add(samples({run_time(5), run_time(5), run_time(5)}));
  CHECK(pooled.value() == 0.0005);
}

}  // namespace race_book_test
