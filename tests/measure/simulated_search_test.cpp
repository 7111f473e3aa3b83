// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/measure/simulated_search.hpp"

#include <doctest/doctest.h>
#include <string>

using tune::testing::run_equal;
using tune::testing::run_race;
using tune::testing::simulated_scenario;
using tune::testing::simulated_scenarios;
using tune::testing::simulated_summary;
using tune::testing::summarise;

namespace {

/// All scenarios, so many searches each: the mean of both schemes, the equal one with three times
/// the launches per configuration that the race takes over all scenarios.
void check_races(std::size_t searches, double least_of_one) {
  const auto scenarios = simulated_scenarios();
  simulated_summary races;
  for (const simulated_scenario& scenario : scenarios) {
    const simulated_summary one =
        summarise(searches, [&](std::size_t i) { return run_race(scenario, i + 1); });
    CAPTURE(scenario.name);
    CHECK(one.success >= least_of_one);
    races.success += one.success / static_cast<double>(scenarios.size());
    races.launches += one.launches / static_cast<double>(scenarios.size());
  }
  CAPTURE(races.launches);
  CHECK(races.success >= 0.99);

  const int three_times = static_cast<int>(3 * races.launches);
  double equal = 0;
  const std::size_t fewer = searches / 5 + 1;  // they take long, and are not the ones in question
  for (const simulated_scenario& scenario : scenarios) {
    equal += summarise(fewer,
                       [&](std::size_t i) { return run_equal(scenario, i + 1, three_times, true); })
                 .success /
             static_cast<double>(scenarios.size());
  }
  CAPTURE(three_times);
  CHECK(equal < 0.99);
}

}  // namespace

TEST_CASE("a race finds the best within 1 % where three times the equal launches do not") {
  check_races(12, 0.9);
}

TEST_CASE("10,000 races find the best within 1 % in 99 of 100" * doctest::skip()) {
  check_races(910, 0.985);
}
