// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/measure/race/race.hpp"
#include "tests/measure/simulated_search.hpp"

namespace tune::testing {

/// When the clock of a simulated device jumps.
enum class simulated_jumps : std::uint8_t {
  none,
  square,      ///< fast for some launches, slow for some, and so on
  three,       ///< the same with three states: fast, half slow, slow
  telegraph,   ///< at random, with a probability at each launch
  after_heavy  ///< slow for some launches after each run of a heavy configuration
};

/// A device whose clock jumps, and the configurations on it. Runs spread by 0.3 %.
struct jump_scenario {
  std::string name;
  simulated_jumps kind = simulated_jumps::none;
  double jump = 0.3;          ///< how much longer runs take in the slowest state
  int period = 16;            ///< launches in one state; 0: drawn between 1 and 1000
  double slow_part = 0.5;     ///< of two periods of a square wave
  double probability = 0.1;   ///< of a jump of the telegraph
  bool random_phase = false;  ///< the first state begins before the first launch
  bool in_final = false;      ///< no jumps before the first run of a finalist
  double gain = 0.1;          ///< how much less time the best of eight takes than all others
  bool many = false;          ///< the 50 to 300 configurations of simulated_search instead of eight
  double best_ns = 100'000;
};

/// All kinds of jumps, for eight configurations and for many.
std::vector<jump_scenario> jump_scenarios();

struct jump_result {
  double excess = 0;  ///< the time of the winner over the best, undisturbed
  bool warned = false;
  bool told = false;  ///< the reported time is within 2 % of a time between the fastest and the
                      ///< slowest state
  double launches = 0;
  drift_report drift{};
};

/// A whole race. @throws std::runtime_error after a million launches
jump_result run_jump_race(const jump_scenario& scenario, std::uint64_t seed,
                          const race_settings& settings = {});

struct jump_summary {
  double success = 0;  ///< the part of the races whose winner is within 1 % of the best
  double silent = 0;   ///< without success and without a warning
  double warned = 0;   ///< with a warning
  double told = 0;
  double worst = 0;
  double launches = 0;  ///< of a race, on average
  double most_launches = 0;
};

/// The results of this many races, in turn with jumps of 10, 30 and 40 %, and with gains of 3, 10
/// and 25 %.
jump_summary summarise_jumps(jump_scenario scenario, std::size_t races);

}  // namespace tune::testing
