// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/samples.hpp"

#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/measure/simulated_search.hpp"

namespace samples_test {

using tune::run_time;
using tune::samples;

samples of(const std::vector<double>& nanoseconds) {
  samples made;
  for (const double time : nanoseconds) made.add(run_time(time));
  return made;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("minimum, mean and median are those of all samples, in any order") {
  struct row {
    std::vector<double> times;
    double min;
    double mean;
    double median;
  };
  for (const row& expected : {row{{7}, 7, 7, 7}, row{{9, 1, 5}, 1, 5, 5}, row{{9, 1}, 1, 5, 5},
                              row{{100, 4, 1, 3}, 1, 27, 3.5}, row{{2, 2, 2, 10}, 2, 4, 2}}) {
    CHECK(of(expected.times).min() == run_time(expected.min));
    CHECK(of(expected.times).mean() == run_time(expected.mean));
    CHECK(of(expected.times).median() == run_time(expected.median));
  }
}

TEST_CASE("the spread is the median deviation, scaled, and an outlier does not move it") {
  // The deviations from 5 are 4, 1, 0, 2, 3.
  CHECK(of({1, 4, 5, 7, 8}).spread().count() == doctest::Approx(2 * 1.4826));
  CHECK(of({1, 4, 5, 7, 8e9}).spread().count() == doctest::Approx(2 * 1.4826));
  CHECK(of({1, 4, 5, 7, 8}).relative_spread() == doctest::Approx(0.4 * 1.4826));
  CHECK(of({5, 5, 5}).spread() == run_time(0));
  CHECK(of({5}).relative_spread() == 0);
}

TEST_CASE("the times are kept in the order in which they came") {
  const samples taken = of({3, 1, 2});
  CHECK(taken.size() == 3);
  CHECK(std::vector(taken.times().begin(), taken.times().end()) ==
        std::vector{run_time(3), run_time(1), run_time(2)});
  CHECK(samples({run_time(4)}).median() == run_time(4));
}

TEST_CASE("a time that cannot be true never wins, wherever it stands") {
  for (const double wrong : {not_a_number, -not_a_number, infinity, -infinity, 0.0, -0.0, -1.0}) {
    for (std::size_t position = 0; position < 5; ++position) {
      CAPTURE(wrong);
      CAPTURE(position);
      std::vector<run_time> times(5, run_time(2));
      times[position] = run_time(wrong);
      CHECK_FALSE(samples(times).valid());
      CHECK_FALSE(tune::score(samples(times)));
    }
    CHECK_FALSE(tune::score(of({wrong})));
  }
}

TEST_CASE("the score of valid samples is their median") {
  CHECK(of({9, 1, 5}).valid());
  CHECK(tune::score(of({9, 1, 5})) == run_time(5));
  CHECK(tune::score(of({1e-3})) == run_time(1e-3));
}

TEST_CASE("statistics of nothing, and of what is not finite, are NaN") {
  for (const samples& bad :
       {samples(), of({1, not_a_number, 3}), of({not_a_number}), of({1, infinity})}) {
    CHECK(std::isnan(bad.min().count()));
    CHECK(std::isnan(bad.mean().count()));
    CHECK(std::isnan(bad.median().count()));
    CHECK(std::isnan(bad.spread().count()));
    CHECK(std::isnan(bad.relative_spread()));
    CHECK_FALSE(bad.valid());
    CHECK_FALSE(tune::score(bad));
  }
}

using tune::confidence_interval;
using tune::interval;

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

}  // namespace samples_test
