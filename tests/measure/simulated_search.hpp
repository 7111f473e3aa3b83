// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/measure/race/race.hpp"

namespace tune::testing {

/// How the speed of a simulated device moves from launch to launch.
enum class simulated_drift : std::uint8_t {
  none,
  walk,     ///< slowly, within about 5 % on either side
  step,     ///< 8 % slower from some launch on, and in half of the searches back again later
  warm_up,  ///< 10 % faster at first, then less and less for some hundred launches
  burst     ///< another user takes 30 % for 40 launches, some times
};

/// Who else computes on a simulated processor, by a clock that runs with the launches.
enum class simulated_load : std::uint8_t {
  none,
  bursts,  ///< another program computes for 0.7 s and sleeps for 0.9 s; while it
           ///< computes, runs take 2 to 10 times as long, and one in twenty much
           ///< longer
  crowd    ///< five more on two cores, always: each run gets 3 ms of every 10
};

/// What makes a search hard. Noise multiplies: a median of one, lognormal, or with the tails of
/// Student's t distribution of three degrees of freedom.
struct simulated_scenario {
  std::string name;
  double spread = 0.01;
  bool heavy_tails = false;
  double outliers = 0;  ///< the part of the launches that take 20 to 300 % more
  simulated_drift drift = simulated_drift::none;
  double slices = 0;   ///< the part of the launches that lose time slices: 10 to 40 times more
  bool alone = false;  ///< whether all others are more than 10 % slower than the best
  simulated_load load = simulated_load::none;
  double best_ns = 100'000;  ///< what the best configuration takes
};

/// The scenarios of the requirement: quiet and loud devices, with outliers, tails and drift.
std::vector<simulated_scenario> simulated_scenarios();
/// The same, on a device whose scheduler takes time slices away, of 1 to 10 % of the launches; and
/// where the best stands alone.
std::vector<simulated_scenario> sliced_scenarios();
/// Busy machines, with kernels of 0.1 to 40 ms.
std::vector<simulated_scenario> loaded_scenarios();

/// Random numbers that are the same on every platform.
class simulated_chance {
 public:
  explicit simulated_chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() noexcept;
  double uniform() noexcept;  ///< in [0, 1)
  double uniform(double from, double to) noexcept { return from + (to - from) * uniform(); }
  double normal() noexcept;

 private:
  std::uint64_t state_;
};

/// A processor that others use too, with a clock.
class simulated_processor {
 public:
  simulated_processor(simulated_load load, std::uint64_t seed);

  /// Passes the time of a run that takes so long alone; returns what it takes, in nanoseconds.
  /// @param sensitivity  how much it suffers from the others, about 1
  double run(double alone_ns, double sensitivity);
  /// Passes time in which nothing runs.
  void pass(double ns) { advance(ns); }

 private:
  void advance(double ns);
  void change();

  simulated_load load_;
  simulated_chance chance_;
  bool busy_ = false;  // somebody else has the processor
  double left_ = 0;    // of this state, in nanoseconds
  double factor_ = 1;  // how much slower runs are meanwhile; 0: they stand still
};

/// A space of 50 to 300 configurations, the best of which takes 100 us; some within 5 % of it, most
/// 1.2 to 5 times slower. And the device that they run on.
class simulated_search {
 public:
  simulated_search(const simulated_scenario& scenario, std::uint64_t seed);

  std::size_t size() const noexcept { return truth_.size(); }
  double rank(std::size_t configuration) const { return ranks_[configuration]; }
  /// By how much it is slower than the best in truth: 0.01 is 1 %.
  double excess(std::size_t configuration) const;
  /// What it takes on a device that nobody else uses, and what half of its runs take now.
  run_time truth(std::size_t configuration) const;
  run_time typical(std::size_t configuration);

  run_time run(std::size_t configuration);
  std::vector<run_time> run(std::size_t configuration, int times);

  std::size_t launches() const noexcept { return launches_; }
  /// Of all launches together, in units of the time of the best configuration.
  double device_time() const noexcept { return device_time_; }

 private:
  void move_level();

  simulated_scenario scenario_;
  simulated_chance chance_;
  simulated_processor processor_;
  std::vector<double> truth_;
  std::vector<double> sensitivities_;
  std::vector<double> ranks_;
  double least_ = 0;
  double level_ = 0;  // a logarithm
  std::size_t launches_ = 0;
  std::size_t last_ = 0;  // the configuration that ran last
  std::size_t step_ = 0;
  std::size_t step_back_ = 0;
  double device_time_ = 0;
};

struct simulated_result {
  double excess = 0;
  double launches = 0;  ///< for each configuration
  double device_time = 0;
  std::size_t finalists = 0;
  double best_finalist = 0;  ///< the excess of the best of them
  /// How far the time told of the winner is from the truth, as a part: from what it takes alone, or
  /// from what half of its runs take on the device as it is, whichever is closer.
  double untruth = 0;
  bool in_doubt = false;
  drift_report drift{};
};

simulated_result run_race(const simulated_scenario& scenario, std::uint64_t seed,
                          const race_settings& settings = {});

/// Measures every configuration so many times and takes the least median: one configuration after
/// the other, or all of them in turn so many times.
simulated_result run_equal(const simulated_scenario& scenario, std::uint64_t seed, int launches,
                           bool in_turn);

/// How many of so many searches chose within 1 % of the best, and what they took on average.
struct simulated_summary {
  double success = 0;
  double close = 0;  ///< within 5 %
  double told = 0;   ///< a time that is true within 10 %
  double worst = 0;
  double launches = 0;
  double device_time = 0;
  double finalists = 0;
};

template <class Search>
simulated_summary summarise(std::size_t searches, Search&& search) {
  simulated_summary sum;
  for (std::size_t i = 0; i < searches; ++i) {
    const simulated_result result = search(i);
    sum.success += result.excess <= 0.01 ? 1 : 0;
    sum.close += result.excess <= 0.05 ? 1 : 0;
    sum.told += result.untruth <= 0.1 ? 1 : 0;
    sum.worst = result.excess > sum.worst ? result.excess : sum.worst;
    sum.launches += result.launches;
    sum.device_time += result.device_time;
    sum.finalists += static_cast<double>(result.finalists);
  }
  const auto count = static_cast<double>(searches);
  sum.success /= count;
  sum.close /= count;
  sum.told /= count;
  sum.launches /= count;
  sum.device_time /= count;
  sum.finalists /= count;
  return sum;
}

}  // namespace tune::testing
