// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Who wins a search that was interrupted, on a device that has become faster or slower since.
#include "tests/tune/resumed_search.hpp"

#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace resumed_search_test {

using sample::kill_stage;
using sample::resumed_search;

/// By 5 to 50 %, up or down.
double draw_drift(tune::testing::simulated_chance& chance) {
  const double change = 1 + chance.uniform(0.05, 0.5);
  return chance.uniform() < 0.5 ? change : 1 / change;
}

/// One search that is killed so often at such stages, with drift after each kill. @returns by how
/// much its winner is slower than the best
double excess_after(const tune::testing::simulated_scenario& scenario, std::uint64_t seed,
                    kill_stage stage, int kills) {
  resumed_search search(scenario, seed);
  for (int i = 0; i < kills; ++i) {
    search.search(stage);
    search.set_level(draw_drift(search.chance()));
  }
  const auto winner = search.search();
  REQUIRE(winner);
  return search.excess(*winner);
}

const char* name_of(kill_stage stage) {
  switch (stage) {
    case kill_stage::screening: return "screening";
    case kill_stage::final_round: return "final round";
    case kill_stage::afterwards: return "afterwards";
    case kill_stage::never: break;
  }
  return "never";
}

/// The part of the searches, over all stages and devices, whose winner is within 1 % of the best.
double check_searches(std::size_t searches_of_each, double least_of_one) {
  const std::vector<tune::testing::simulated_scenario> scenarios{
      {.name = "quiet", .spread = 0.003},
      {.name = "usual", .spread = 0.01, .outliers = 0.01},
      {.name = "loud", .spread = 0.03, .outliers = 0.03},
      {.name = "heavy tails", .spread = 0.01, .heavy_tails = true, .outliers = 0.03}};
  double all = 0;
  double good = 0;
  for (const auto& scenario : scenarios) {
    for (const kill_stage stage :
         {kill_stage::screening, kill_stage::final_round, kill_stage::afterwards}) {
      for (const int kills : {1, 3}) {
        double within = 0;
        double worst = 0;
        for (std::size_t i = 0; i < searches_of_each; ++i) {
          const double excess = excess_after(scenario, i + 1, stage, kills);
          within += excess <= 0.01 ? 1 : 0;
          worst = std::max(worst, excess);
        }
        const std::string what =
            scenario.name + ", killed " + std::to_string(kills) + " x " + name_of(stage);
        CAPTURE(what);
        CAPTURE(worst);
        CHECK(within / static_cast<double>(searches_of_each) >= least_of_one);
        MESSAGE(what << ": " << within << " of " << searches_of_each << ", worst " << worst);
        good += within;
        all += static_cast<double>(searches_of_each);
      }
    }
  }
  return good / all;
}

TEST_CASE("an interrupted search finds the best, however the device has changed since") {
  CHECK(check_searches(4, 0.75) >= 0.96);
}

TEST_CASE("10,000 interrupted searches find the best within 1 %" * doctest::skip()) {
  CHECK(check_searches(417, 0.98) >= 0.99);
}

TEST_CASE("where all was tried before the interruption the best are compared again") {
  resumed_search search({.name = "loud", .spread = 0.03}, 3);
  search.search(kill_stage::afterwards);
  const auto winner = search.search();
  REQUIRE(winner);
  CHECK(search.excess(*winner) <= 0.01);
  CHECK(search.measured().size() >= tune::earlier_times::references);
  CHECK(search.measured().size() < search.size());
  CHECK(search.measured().contains(*winner));
}

TEST_CASE("the level of the device is kept with each trial, through all interruptions") {
  resumed_search search({.name = "quiet", .spread = 0.001}, 4);
  search.search(kill_stage::screening);
  CHECK(std::ranges::all_of(search.stored(), [](const auto& t) { return t.level == 1; }));
  const std::size_t before = search.stored().size();
  REQUIRE(before > tune::earlier_times::references);
  search.set_level(1.4);
  search.search(kill_stage::afterwards);
  REQUIRE(search.stored().size() > before);
  CHECK(search.stored().back().level == doctest::Approx(1.4).epsilon(0.01));
  search.set_level(0.8);
  search.search(kill_stage::afterwards);
  CHECK(std::ranges::any_of(search.stored(), [](const auto& t) {
    return t.level == doctest::Approx(0.8).epsilon(0.01);
  }));
}

TEST_CASE("a little budget is spent on the best of what was taken over, and ends the search") {
  resumed_search search({.name = "usual", .spread = 0.01}, 5);
  search.search(kill_stage::final_round);
  search.options.budget = tune::tuning_budget{.time = std::chrono::nanoseconds(1)};
  search.set_level(1.3);
  const auto winner = search.search();
  REQUIRE(winner);
  CHECK(search.excess(*winner) <= 0.05);
  CHECK(search.measured().size() <= tune::earlier_times::references);
}

TEST_CASE("wrong results cost no right one its place, though the search is interrupted") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    resumed_search search({.name = "usual", .spread = 0.01, .outliers = 0.01}, seed);
    search.options.verify = tune::result_check::finalists;
    // Two of three that are good.
    double best_right = 1e9;
    for (std::size_t i = 0; i < search.size(); ++i) {
      if (search.excess(i) < 0.2 && i % 3 != 0) {
        search.wrong.insert(i);
      } else {
        best_right = std::min(best_right, search.excess(i));
      }
    }
    search.search(seed % 2 == 0 ? kill_stage::screening : kill_stage::final_round);
    search.set_level(draw_drift(search.chance()));
    const auto winner = search.search();
    REQUIRE(winner);
    CHECK_FALSE(search.wrong.contains(*winner));
    CHECK((1 + search.excess(*winner)) / (1 + best_right) <= 1.01);
  }
}

}  // namespace resumed_search_test
