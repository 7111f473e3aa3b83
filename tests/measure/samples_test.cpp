// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/samples.hpp"

#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>
#include <vector>

namespace samples_test {

using tune::run_time;
using tune::samples;

samples of(std::initializer_list<double> nanoseconds) {
  samples made;
  for (const double time : nanoseconds) made.add(run_time(time));
  return made;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("the median of an odd count is the middle sample, of an even one the mean of two") {
  CHECK(of({7}).median() == run_time(7));
  CHECK(of({9, 1, 5}).median() == run_time(5));
  CHECK(of({9, 1}).median() == run_time(5));
  CHECK(of({100, 4, 1, 3}).median() == run_time(3.5));
  CHECK(of({2, 2, 2, 9}).median() == run_time(2));
}

TEST_CASE("minimum and mean are those of all samples") {
  CHECK(of({9, 1, 5}).min() == run_time(1));
  CHECK(of({9, 1, 5}).mean() == run_time(5));
  CHECK(of({1, 2}).mean() == run_time(1.5));
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

TEST_CASE("no samples never win") {
  CHECK_FALSE(samples().valid());
  CHECK_FALSE(tune::score(samples()));
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
  }
}

}  // namespace samples_test
