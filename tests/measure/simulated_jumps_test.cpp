// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/measure/simulated_jumps.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/measure/race/jump_watch.hpp"

namespace simulated_jumps_test {

using tune::run_time;
using tune::detail::jump_at_end;
using tune::detail::jump_within;
using tune::testing::jump_result;
using tune::testing::jump_scenario;
using tune::testing::jump_scenarios;
using tune::testing::run_jump_race;
using tune::testing::simulated_jumps;

struct tally {
  int races = 0;
  int silent = 0;  // wrong by more than 1 %, without a warning
  int warned = 0;

  void add(const jump_result& race) {
    ++races;
    silent += race.excess > 0.01 && !race.warned ? 1 : 0;
    warned += race.warned ? 1 : 0;
  }
};

/// Races with square waves of every period up to 40 launches, and of longer ones up to 1000.
tally sweep(double jump, double gain, double most_launches) {
  tally found;
  for (int period = 1; period <= 1000; period = period < 40 ? period + 1 : period * 5 / 4) {
    CAPTURE(jump);
    CAPTURE(gain);
    CAPTURE(period);
    const jump_result race = run_jump_race(
        {.name = "", .kind = simulated_jumps::square, .jump = jump, .period = period, .gain = gain},
        1);
    CHECK((race.excess <= 0.01 || race.warned));
    CHECK(race.told);
    CHECK(race.launches <= most_launches);
    found.add(race);
  }
  return found;
}

TEST_CASE(
    "whatever the period of a jumping clock, the best wins, or a warning says that it may not") {
  tally all;
  for (const double gain : {0.03, 0.1, 0.25}) {
    const double quiet = run_jump_race({.name = "", .gain = gain}, 1).launches;
    CHECK(quiet < 100);
    for (const double jump : {0.05, 0.1, 0.3, 0.4}) {
      const tally some = sweep(jump, gain, 20 * quiet);
      all.races += some.races;
      all.warned += some.warned;
    }
  }
  // Nearly all are decided.
  CHECK(all.warned * 20 <= all.races);
}

// A race of some fifty launches may see only one slow state, that of the best.
TEST_CASE("jumps of every kind are found, with any phase") {
  tally all;
  for (jump_scenario scenario : jump_scenarios()) {
    for (const double jump : {0.1, 0.3, 0.4}) {
      if (scenario.many && jump != 0.3) continue;
      scenario.jump = jump;
      CAPTURE(scenario.name);
      CAPTURE(jump);
      tally some;
      for (std::uint64_t seed = 1; seed <= (scenario.many ? 2U : 6U); ++seed) {
        const jump_result race = run_jump_race(scenario, seed);
        CHECK(race.told);
        some.add(race);
      }
      CHECK(some.silent <= 1);
      all.silent += some.silent;
      all.races += some.races;
    }
  }
  CHECK(all.silent * 100 <= all.races);
}

TEST_CASE("a jump of any size, also beyond that of a clock, ends") {
  for (const double jump : {0.6, 1.0, 2.0}) {
    for (const int period : {1, 2, 4, 7, 8, 16, 20, 50}) {
      CAPTURE(jump);
      CAPTURE(period);
      const jump_scenario scenario{
          .name = "", .kind = simulated_jumps::square, .jump = jump, .period = period};
      CHECK(run_jump_race(scenario, 1).launches < 2500);
    }
  }
}

TEST_CASE("a device that jumps is reported") {
  const jump_result race =
      run_jump_race({.name = "", .kind = simulated_jumps::square, .period = 8}, 1);
  CHECK(race.excess == 0);
  CHECK(race.drift.jumping);
  CHECK(race.drift.resolved());
  CHECK(race.drift.largest > 0.25);
  const std::string text = tune::drift_text(race.drift);
  CHECK(text.find("again and again") != std::string::npos);
  CHECK(text.find("less certain") == std::string::npos);
}

std::vector<run_time> times(const std::vector<double>& of) {
  std::vector<run_time> found;
  for (const double time : of) found.emplace_back(time);
  return found;
}

TEST_CASE("two kinds of runs are a jump, single slow ones are not") {
  CHECK(jump_within(times({100, 130, 100.2, 130.3})) == doctest::Approx(0.3).epsilon(0.02));
  CHECK(jump_within(times({100, 115, 130, 100, 115, 130})) == doctest::Approx(0.3).epsilon(0.02));
  CHECK(jump_within(times({100, 101, 100.5, 130})) == 0);
  CHECK(jump_within(times({100, 2000, 100.5, 2001})) == 0);
  CHECK(jump_within(times({100, 101, 103, 104})) == 0);
  CHECK(jump_within({}) == 0);
}

TEST_CASE("the last run may be the first in a slow state, and the first one the warm-up") {
  CHECK(jump_at_end(times({100, 130}), 0.003) == doctest::Approx(0.3).epsilon(0.02));
  CHECK(jump_at_end(times({130, 100}), 0.003) == 0);
  CHECK(jump_at_end(times({100, 130}), 0.05) == 0);
  CHECK(jump_at_end(times({100}), 0.003) == 0);
}

}  // namespace simulated_jumps_test
