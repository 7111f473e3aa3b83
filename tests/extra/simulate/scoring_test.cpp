// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/scoring.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

#include "libtune/search/strategy/strategy.hpp"
#include "tests/extra/simulate/recorded_line.hpp"

namespace scoring_test {

using tune::random_baseline;
using tune::scoring;
using tune::simulated_step;

/// Scores 1, 2, ... 1001.
tune::recorded_space thousand() {
  std::vector<std::optional<double>> scores(1001);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<double>(i + 1);
  return tune::testing::recorded_line(scores);
}

scoring of_thousand() { return scoring(random_baseline(thousand())); }

TEST_CASE("a search is watched while random search gets from 1 % to 95 % of the way") {
  const scoring by = of_thousand();
  const auto times = by.times_ms();
  REQUIRE(times.size() == 32);
  const random_baseline& baseline = by.baseline();
  CHECK(times.front() == 10 * baseline.evaluations_to(baseline.target_ms(0.01)));
  CHECK(times.back() == 10 * baseline.evaluations_to(baseline.target_ms(0.95)));
  CHECK(by.budget_ms() == times.back());
  for (std::size_t i = 2; i < times.size(); ++i) {
    CHECK(times[i] - times[i - 1] == doctest::Approx(times[1] - times[0]));
  }
}

TEST_CASE("the optimum at once scores 1, what random search expects scores 0") {
  const scoring by = of_thousand();
  CHECK(by.score(std::vector<simulated_step>{{0, 1.0, 1.0}}) == 1);
  std::vector<simulated_step> as_expected;
  for (const double time : by.times_ms()) {
    as_expected.push_back({0, by.baseline().expected_ms(time / 10), time});
  }
  CHECK(by.score(as_expected) == doctest::Approx(0));
}

TEST_CASE("a search that stays at the worst scores below 0") {
  const scoring by = of_thousand();
  CHECK(by.score(std::vector<simulated_step>{{1000, 1001.0, 1.0}}) < -1);
}

TEST_CASE("only what was found by then counts at a time") {
  const scoring by = of_thousand();
  const double middle = by.times_ms()[16];
  const std::vector<simulated_step> steps{{500, 501.0, 1}, {0, 1.0, middle}, {3, 4.0, middle + 1}};
  const std::vector<double> curve = by.curve(steps);
  CHECK(curve[15] < 0);
  CHECK(curve[16] == 1);
  CHECK(curve[31] == 1);
}

TEST_CASE("before the first find, it counts; failures are no finds") {
  const scoring by = of_thousand();
  const double late = by.times_ms()[16] - 1;
  const std::vector<simulated_step> steps{{0, std::nullopt, 1}, {9, 10.0, late}};
  const std::vector<simulated_step> early{{9, 10.0, 1}};
  CHECK(by.curve(steps) == by.curve(early));
}

TEST_CASE("a search that finds nothing in time counts as having the worst") {
  const scoring by = of_thousand();
  const std::vector<simulated_step> worst{{1000, 1001.0, 1}};
  CHECK(by.curve({}) == by.curve(worst));
  CHECK(by.curve(std::vector<simulated_step>{{0, 1.0, by.budget_ms() + 1}}) == by.curve(worst));
}

TEST_CASE("the ratio at the end is of the best within the budget") {
  const scoring by = of_thousand();
  CHECK(by.ratio_at(by.budget_ms(),
                    std::vector<simulated_step>{
                        {4, 5.0, 1}, {1, 2.0, by.budget_ms()}, {0, 1.0, by.budget_ms() + 1}}) == 2);
  CHECK(std::isinf(by.ratio_at(by.budget_ms(), {})));
}

TEST_CASE("random search scores about 0 on average") {
  const tune::recorded_space space = thousand();
  const scoring by{random_baseline(space)};
  double sum = 0;
  constexpr int repeats = 400;
  for (int seed = 0; seed < repeats; ++seed) {
    const auto searching =
        tune::make_strategy("random", space.space(), {.seed = static_cast<std::uint64_t>(seed)});
    sum += by.score(tune::simulate(*searching, space, {.max_ms = by.budget_ms()}));
  }
  CHECK(sum / repeats == doctest::Approx(0).epsilon(0.1));
}

}  // namespace scoring_test
