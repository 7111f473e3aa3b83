// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/measure/simulated_search.hpp"

#include <doctest/doctest.h>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace simulated_search_test {

using tune::testing::loaded_scenarios;
using tune::testing::run_equal;
using tune::testing::run_race;
using tune::testing::simulated_load;
using tune::testing::simulated_scenario;
using tune::testing::simulated_scenarios;
using tune::testing::simulated_summary;
using tune::testing::sliced_scenarios;
using tune::testing::summarise;

/// So many searches of each scenario; returns the launches per configuration, on average.
double check_races(const std::vector<simulated_scenario>& scenarios, std::size_t searches,
                   double least_of_one) {
  simulated_summary races;
  for (const simulated_scenario& scenario : scenarios) {
    const simulated_summary one =
        summarise(searches, [&](std::size_t i) { return run_race(scenario, i + 1); });
    CAPTURE(scenario.name);
    CHECK(one.success >= least_of_one);
    races.success += one.success / static_cast<double>(scenarios.size());
    races.launches += one.launches / static_cast<double>(scenarios.size());
  }
  CHECK(races.success >= 0.99);
  return races.launches;
}

/// On machines that others use: within 5 %, and a time told that is true within 10 %; of each
/// scenario, and of all those of one load together.
void check_loaded(std::size_t searches, double least_of_one, double least_of_load) {
  std::map<simulated_load, std::vector<double>> close;
  for (const simulated_scenario& scenario : loaded_scenarios()) {
    const simulated_summary one =
        summarise(searches, [&](std::size_t i) { return run_race(scenario, i + 1); });
    CAPTURE(scenario.name);
    CAPTURE(one.worst);
    CHECK(one.close >= least_of_one);
    CHECK(one.told >= least_of_load);
    close[scenario.load].push_back(one.close);
  }
  for (const auto& [load, parts] : close) {
    CHECK(std::accumulate(parts.begin(), parts.end(), 0.0) >=
          least_of_load * static_cast<double>(parts.size()));
  }
}

/// How often the best is found over all scenarios when all configurations are run so many times.
double equal_success(std::size_t searches, int launches) {
  const auto scenarios = simulated_scenarios();
  double success = 0;
  for (const simulated_scenario& scenario : scenarios) {
    success += summarise(searches, [&](std::size_t i) {
                 return run_equal(scenario, i + 1, launches, true);
               }).success;
  }
  return success / static_cast<double>(scenarios.size());
}

TEST_CASE("races find the best within 1 % on devices of every kind") {
  CHECK(check_races(simulated_scenarios(), 3, 1) < 15);
}

TEST_CASE("time slices that are taken away cost nothing, also where the best stands alone") {
  CHECK(check_races(sliced_scenarios(), 5, 1) < 12);
}

TEST_CASE("races on busy machines find one within 5 %, and tell a time that is true within 10 %") {
  check_loaded(3, 0.6, 0.6);
}

TEST_CASE("10,000 races find the best within 1 %, where thrice the equal launches do not" *
          doctest::skip()) {
  const double launches = check_races(simulated_scenarios(), 910, 0.99);
  CAPTURE(launches);
  CHECK(equal_success(300, static_cast<int>(3 * launches)) < 0.99);
}

TEST_CASE("10,000 races with time slices taken away find the best within 1 %" * doctest::skip()) {
  check_races(sliced_scenarios(), 1000, 0.99);
}

// The runs of a kernel of 10 ms in a crowd spread by 26 %. With as many launches, measuring all
// configurations in turn finds one within 5 % in 89 % of the searches, and three times as many
// would find it in 97 %.
TEST_CASE("10,000 races on busy machines find one within 5 %" * doctest::skip()) {
  check_loaded(1250, 0.91, 0.95);
}

}  // namespace simulated_search_test
