// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how often does a race choose the best configuration, and with how many launches,
// compared with measuring every configuration equally often?
//
// Method: simulated searches (tests/measure/simulated_search.hpp) with a known truth: 50 to 300
// configurations, 5 to 20 % of them within 5 % of the best and most 1.2 to 5 times slower; noise,
// outliers, heavy tails and drift as defined by each scenario. A search succeeds if its choice is
// within 1 % of the true best. Launches are counted per configuration, including launches of the
// sentinel, launches of the finals, and launches that a drift made worthless. Device time is in
// units of one run of the best configuration, per configuration. No device is needed, and the
// numbers are reproducible.
//
// In addition to the scenarios of noise and drift there are some whose scheduler takes time slices
// away, also with the best ahead by 10 %, and busy machines with a clock: another program that
// computes in bursts, and five others on two cores. "close" is the frequency of a choice within 5 %
// of the best. "told" is the frequency with which its stated time is true within 10 %: true for
// undisturbed runs, or for the median of its runs with the disturbances.
//
// Clocks that jump (tests/measure/simulated_jumps.hpp): one of eight configurations takes 3, 10 or
// 25 % less time than all others, or the configurations are the many of above, and runs take 10, 30
// or 40 % longer in the slowest state. "silent" is the frequency of a wrong choice without a
// warning, "told" that of a stated time between those of the fastest and the slowest state.
// Launches are those of a whole race there, on average and at most.
//
// "equally" is the fairest equal scheme: all configurations in turn, so that drift affects all
// alike, which would have to keep all of them alive. Shown is the least number of launches, of a
// list of them, at which it succeeds in 99 % of the searches. The scenario is unknown in advance,
// so an equal search must take the largest of them; the race finds the number itself. "one by one"
// is the success rate of measuring one configuration after the other, 101 times each.
//
//   racing_bench [searches of each scenario, 910 by default: 10,010 in all]

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "tests/measure/simulated_jumps.hpp"
#include "tests/measure/simulated_search.hpp"

namespace {

using tune::testing::jump_scenario;
using tune::testing::jump_scenarios;
using tune::testing::jump_summary;
using tune::testing::loaded_scenarios;
using tune::testing::run_equal;
using tune::testing::run_race;
using tune::testing::simulated_scenario;
using tune::testing::simulated_scenarios;
using tune::testing::simulated_summary;
using tune::testing::sliced_scenarios;
using tune::testing::summarise;
using tune::testing::summarise_jumps;

simulated_summary equally(const simulated_scenario& scenario, std::size_t searches, int launches,
                          bool in_turn) {
  return summarise(searches,
                   [&](std::size_t i) { return run_equal(scenario, i + 1, launches, in_turn); });
}

std::string needed_equally(const simulated_scenario& scenario, std::size_t searches) {
  for (const int launches : {3, 5, 7, 11, 15, 21, 31, 41, 61, 81, 101, 151, 201}) {
    if (equally(scenario, searches, launches, true).success >= 0.99) {
      return std::to_string(launches);
    }
  }
  return "> 201";
}

void print_races(const std::vector<simulated_scenario>& scenarios, std::size_t searches) {
  fmt::print("\n{:26} {:>9} {:>8} {:>8} {:>7} {:>9} {:>11}\n", "scenario", "success", "close",
             "told", "worst", "launches", "device time");
  for (const simulated_scenario& scenario : scenarios) {
    const simulated_summary race =
        summarise(searches, [&](std::size_t i) { return run_race(scenario, i + 1); });
    fmt::print("{:26} {:8.2f}% {:7.2f}% {:7.2f}% {:6.1f}% {:9.1f} {:11.1f}\n", scenario.name,
               100 * race.success, 100 * race.close, 100 * race.told, 100 * race.worst,
               race.launches, race.device_time);
    std::fflush(stdout);
  }
}

void print_jumps(std::size_t searches) {
  fmt::print("\n{:26} {:>9} {:>8} {:>8} {:>8} {:>7} {:>9} {:>7}\n", "jumping clock", "success",
             "silent", "warned", "told", "worst", "launches", "most");
  std::vector<jump_scenario> scenarios = jump_scenarios();
  scenarios.insert(scenarios.begin(), {{.name = "none"}, {.name = "none, many", .many = true}});
  for (const jump_scenario& scenario : scenarios) {
    const jump_summary races = summarise_jumps(scenario, searches);
    fmt::print("{:26} {:8.2f}% {:7.2f}% {:7.2f}% {:7.2f}% {:6.1f}% {:9.1f} {:7.0f}\n",
               scenario.name, 100 * races.success, 100 * races.silent, 100 * races.warned,
               100 * races.told, 100 * races.worst, races.launches, races.most_launches);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t searches =
      count > 1 ? std::strtoul(arguments[1], nullptr, 10) : std::size_t{910};
  if (searches == 0) {
    fmt::print(stderr, "racing_bench takes the number of searches of each scenario\n");
    return EXIT_FAILURE;
  }
  fmt::print("{:18} {:>9} {:>7} {:>9} {:>11} {:>9} {:>8} {:>10}\n", "scenario", "success", "worst",
             "launches", "device time", "finalists", "equally", "one by one");
  double success = 0;
  double launches = 0;
  const auto scenarios = simulated_scenarios();
  for (const simulated_scenario& scenario : scenarios) {
    const simulated_summary race =
        summarise(searches, [&](std::size_t i) { return run_race(scenario, i + 1); });
    // The equal scheme takes many times as long, and a third of the searches suffices.
    const std::size_t fewer = searches / 3 + 1;
    fmt::print("{:18} {:8.2f}% {:6.1f}% {:9.1f} {:11.1f} {:9.1f} {:>8} {:9.1f}%\n", scenario.name,
               100 * race.success, 100 * race.worst, race.launches, race.device_time,
               race.finalists, needed_equally(scenario, fewer),
               100 * equally(scenario, fewer, 101, false).success);
    std::fflush(stdout);
    success += race.success / static_cast<double>(scenarios.size());
    launches += race.launches / static_cast<double>(scenarios.size());
  }
  fmt::print("{:18} {:8.2f}% {:>7} {:9.1f}\n", "all together", 100 * success, "", launches);
  print_races(sliced_scenarios(), searches);
  print_races(loaded_scenarios(), searches);
  print_jumps(searches);
  return EXIT_SUCCESS;
}
