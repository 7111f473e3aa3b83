// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/random_baseline.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>

#include "libtune/base/error.hpp"
#include "libtune/search/space/random_source.hpp"
#include "tests/extra/simulate/recorded_line.hpp"

namespace random_baseline_test {

using tune::random_baseline;
using tune::testing::recorded_line;

/// Scores 1, 2, ... count, the best one in the middle.
tune::recorded_space up_to(int count) {
  std::vector<std::optional<double>> scores(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) scores[static_cast<std::size_t>((i * 7) % count)] = i + 1;
  return recorded_line(scores);
}

TEST_CASE("what is expected of random search is the score of a rank") {
  const random_baseline baseline(up_to(9));
  CHECK(baseline.optimum_ms() == 1);
  CHECK(baseline.median_ms() == 5);
  CHECK(baseline.worst_ms() == 9);
  CHECK(baseline.cost_ms() == 10);
  // Rank round(10 M / (M + 1)) from the worst, which is 9.
  CHECK(baseline.expected_ms(0) == 9);
  CHECK(baseline.expected_ms(1) == 5);
  CHECK(baseline.expected_ms(2) == 3);
  CHECK(baseline.expected_ms(4) == 2);
  CHECK(baseline.expected_ms(9) == 1);
  CHECK(baseline.expected_ms(1000) == 1);
}

TEST_CASE("the expectation is that of random draws") {
  constexpr int count = 200;
  const random_baseline baseline(up_to(count));
  tune::detail::random_source random(1);
  for (const int drawn : {1, 5, 20}) {
    double sum = 0;
    constexpr int repeats = 2000;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      double best = count;
      for (int i = 0; i < drawn; ++i) {
        best = std::min(best, 1.0 + static_cast<double>(random.below(count)));
      }
      sum += best;
    }
    CHECK(baseline.expected_ms(drawn) == doctest::Approx(sum / repeats).epsilon(0.06));
  }
}

TEST_CASE("targets lie between the median and the optimum, and are reached in time") {
  const random_baseline baseline(up_to(999));
  CHECK(baseline.target_ms(0) == 500);
  CHECK(baseline.target_ms(1) == 1);
  CHECK(baseline.target_ms(0.95) == doctest::Approx(25.95));
  const double enough = baseline.evaluations_to(25.95);
  CHECK(baseline.expected_ms(enough) <= 25.95);
  CHECK(baseline.expected_ms(enough - 1) > 25.95);
  CHECK(baseline.evaluations_to(500) == 1);
  CHECK(baseline.evaluations_to(998) == 1);
}

TEST_CASE("failures are drawn too, and are as bad as the worst") {
  const auto space = recorded_line({1, 2, 3, std::nullopt, std::nullopt, std::nullopt});
  CHECK(random_baseline(space).median_ms() == 2);
  CHECK(random_baseline(space).expected_ms(1) == 3);
  CHECK(random_baseline(space, random_baseline::failures::left_out).expected_ms(1) == 2);
}

TEST_CASE("where nothing succeeds there is no baseline") {
  CHECK_THROWS_AS(random_baseline(recorded_line({std::nullopt})), tune::argument_error);
}

}  // namespace random_baseline_test
