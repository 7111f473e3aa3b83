// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/confidence_interval.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/measure/simulated_search.hpp"

namespace confidence_interval_test {

using tune::confidence_interval;
using tune::interval;
using tune::run_time;
using tune::samples;

samples ascending(int count) {
  samples result;
  for (int i = 1; i <= count; ++i) result.add(run_time(100 + i));
  return result;
}

/// How often the interval of so many samples holds the true median, 1.
double coverage(int size, double confidence, double spread, bool heavy_tails) {
  tune::testing::simulated_chance chance(7);
  constexpr int trials = 1000;
  int held = 0;
  for (int i = 0; i < trials; ++i) {
    samples drawn;
    for (int k = 0; k < size; ++k) {
      double deviate = chance.normal();
      if (heavy_tails) deviate /= std::abs(chance.normal()) + 0.1;
      drawn.add(run_time(std::exp(spread * deviate)));
    }
    const interval bounds = confidence_interval(drawn, confidence, spread);
    held += bounds.lower <= run_time(1) && run_time(1) <= bounds.upper ? 1 : 0;
  }
  return static_cast<double>(held) / trials;
}

TEST_CASE("enough samples give an interval of order statistics") {
  // The ranks are those of the binomial distribution, as tables of the sign test have them.
  CHECK(confidence_interval(ascending(6), 0.95) == interval{run_time(101), run_time(106)});
  CHECK(confidence_interval(ascending(8), 0.99) == interval{run_time(101), run_time(108)});
  CHECK(confidence_interval(ascending(20), 0.95) == interval{run_time(106), run_time(115)});
  CHECK(confidence_interval(ascending(100), 0.95) == interval{run_time(140), run_time(161)});
}

TEST_CASE("thousands of samples are as good as hundreds of them") {
  const interval exact = confidence_interval(ascending(1000), 0.95);
  const interval approximate = confidence_interval(ascending(1001), 0.95);
  CHECK(approximate.lower.count() == doctest::Approx(exact.lower.count()).epsilon(0.003));
  CHECK(approximate.upper.count() == doctest::Approx(exact.upper.count()).epsilon(0.003));
}

TEST_CASE("few samples tell nothing unless it is known how runs spread") {
  CHECK(confidence_interval(ascending(5), 0.95) == interval{});
  const interval known = confidence_interval(samples({run_time(100)}), 0.95, 0.01);
  CHECK(known.lower.count() == doctest::Approx(100 - 1.96 * 0.01 * 100).epsilon(0.001));
  CHECK(known.upper.count() == doctest::Approx(100 + 1.96 * 0.01 * 100).epsilon(0.001));
}

TEST_CASE("the interval holds the true median at least as often as it says") {
  for (const int size : {1, 2, 3, 5, 6, 8, 11, 30}) {
    CAPTURE(size);
    CHECK(coverage(size, 0.95, 0.02, false) > 0.93);
    CHECK(coverage(size, 0.99, 0.02, false) > 0.975);
  }
  for (const int size : {6, 8, 11, 30}) {
    CAPTURE(size);
    CHECK(coverage(size, 0.95, 0.02, true) > 0.94);
  }
}

TEST_CASE("an outlier among few samples does not raise the lower bound") {
  const interval bounds = confidence_interval(samples({run_time(100), run_time(300)}), 0.99, 0.01);
  CHECK(bounds.lower < run_time(100));
  CHECK(bounds.upper > run_time(300));
}

TEST_CASE("times that cannot be true tell nothing") {
  CHECK(confidence_interval({}, 0.95, 0.01) == interval{});
  CHECK(confidence_interval(samples({run_time(1), run_time(NAN)}), 0.95, 0.01) == interval{});
  CHECK(confidence_interval(samples({run_time(1), run_time(-1)}), 0.95, 0.01) == interval{});
}

TEST_CASE("the deviate of a confidence is the normal distribution's") {
  CHECK(tune::normal_deviate(0.95) == doctest::Approx(1.959964));
  CHECK(tune::normal_deviate(0.99) == doctest::Approx(2.575829));
  CHECK(tune::normal_deviate(0.5) == doctest::Approx(0.674490));
  CHECK(tune::normal_deviate(0.999999) == doctest::Approx(4.891638));
}

TEST_CASE("a confidence is between 0 and 1") {
  for (const double wrong : {0.0, 1.0, -1.0, 95.0, static_cast<double>(NAN)}) {
    CHECK_THROWS_AS(confidence_interval(ascending(9), wrong), tune::argument_error);
    CHECK_THROWS_AS(tune::normal_deviate(wrong), tune::argument_error);
  }
}

}  // namespace confidence_interval_test
