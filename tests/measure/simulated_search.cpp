// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/measure/simulated_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace tune::testing {
namespace {

// Of the host, for each run, and for another configuration than before.
constexpr double launch_ns = 30'000;
constexpr double change_ns = 1'000'000;

double draw_truth(simulated_chance& chance, double close_part) {
  const double kind = chance.uniform();
  if (kind < close_part) return chance.uniform(1.0, 1.05);
  if (kind < close_part + 0.1) return chance.uniform(1.05, 1.2);
  return 1.2 * std::exp(chance.uniform() * std::log(5 / 1.2));
}

// The quotient of a normal and the root of a chi-squared variate of three degrees of freedom.
double draw_student(simulated_chance& chance) {
  const double a = chance.normal();
  const double b = chance.normal();
  const double c = chance.normal();
  return chance.normal() / std::sqrt((a * a + b * b + c * c) / 3);
}

}  // namespace

std::vector<simulated_scenario> simulated_scenarios() {
  using enum simulated_drift;
  return {{.name = "quiet", .spread = 0.003},
          {.name = "usual", .spread = 0.01, .outliers = 0.01},
          {.name = "loud", .spread = 0.03, .outliers = 0.03},
          {.name = "heavy tails", .spread = 0.01, .heavy_tails = true, .outliers = 0.03},
          {.name = "quiet, walk", .spread = 0.003, .outliers = 0.01, .drift = walk},
          {.name = "walk", .spread = 0.01, .outliers = 0.01, .drift = walk},
          {.name = "step", .spread = 0.01, .outliers = 0.01, .drift = step},
          {.name = "warm-up", .spread = 0.01, .outliers = 0.01, .drift = warm_up},
          {.name = "other user", .spread = 0.01, .outliers = 0.01, .drift = burst},
          {.name = "all, loud, walk",
           .spread = 0.03,
           .heavy_tails = true,
           .outliers = 0.03,
           .drift = walk},
          {.name = "all, loud, step",
           .spread = 0.03,
           .heavy_tails = true,
           .outliers = 0.03,
           .drift = step}};
}

std::vector<simulated_scenario> sliced_scenarios() {
  std::vector<simulated_scenario> found;
  for (const int percent : {1, 3, 5, 10}) {
    for (const bool alone : {false, true}) {
      found.push_back({.name = std::to_string(percent) + " % sliced" + (alone ? ", alone" : ""),
                       .spread = 0.01,
                       .slices = percent / 100.0,
                       .alone = alone});
    }
  }
  using enum simulated_drift;
  found.push_back({.name = "10 % sliced, loud, walk",
                   .spread = 0.03,
                   .heavy_tails = true,
                   .drift = walk,
                   .slices = 0.1});
  found.push_back({.name = "usual, alone", .spread = 0.01, .outliers = 0.01, .alone = true});
  return found;
}

std::vector<simulated_scenario> loaded_scenarios() {
  std::vector<simulated_scenario> found;
  for (const auto& [load, name] :
       {std::pair(simulated_load::bursts, "bursts"), std::pair(simulated_load::crowd, "crowd")}) {
    for (const auto& [ns, size] :
         {std::pair(1e5, "0.1"), std::pair(1e6, "1"), std::pair(1e7, "10"), std::pair(4e7, "40")}) {
      found.push_back({.name = std::string(name) + ", " + size + " ms",
                       .spread = 0.01,
                       .outliers = 0.01,
                       .load = load,
                       .best_ns = ns});
    }
  }
  return found;
}

// The generator splitmix64.
std::uint64_t simulated_chance::bits() noexcept {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

double simulated_chance::uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }

// The method of Box and Muller, one of its two numbers.
double simulated_chance::normal() noexcept {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

simulated_processor::simulated_processor(simulated_load load, std::uint64_t seed)
    : load_(load), chance_(seed ^ 0x5851F42D4C957F2D) {
  if (load_ == simulated_load::none) return;
  change();
  advance(chance_.uniform(0, 2e9));
}

void simulated_processor::change() {
  busy_ = !busy_;
  if (load_ == simulated_load::bursts) {
    left_ = (busy_ ? 0.7e9 : 0.9e9) * chance_.uniform(0.9, 1.1);
    factor_ = busy_ ? 2 * std::exp(chance_.uniform() * std::log(5)) : 1;
  } else {
    left_ = busy_ ? chance_.uniform(3e6, 12e6) : chance_.uniform(1.5e6, 4.5e6);
    factor_ = busy_ ? 0 : 1;
  }
}

void simulated_processor::advance(double ns) {
  if (load_ == simulated_load::none) return;
  for (; ns > left_; change()) ns -= left_;
  left_ -= ns;
}

double simulated_processor::run(double alone_ns, double sensitivity) {
  if (load_ == simulated_load::none) return alone_ns;
  // It begins when it has the processor.
  if (factor_ == 0) advance(left_ + 1);
  const double own = sensitivity * std::exp(0.2 * chance_.normal());
  double extra = 0;
  if (load_ == simulated_load::bursts && busy_ && chance_.uniform() < 0.05) {
    extra = chance_.uniform(10, 40) * std::min(alone_ns, 1e6);
  }
  double taken = 0;
  for (double work = alone_ns; work > 0;) {
    const double slower = factor_ > 1 ? 1 + (factor_ - 1) * own : factor_;
    const double most = slower > 0 ? left_ / slower : 0;  // of the work, before the state changes
    if (slower > 0 && work <= most) {
      taken += work * slower;
      advance(work * slower);
      break;
    }
    work -= most;
    taken += left_;
    change();
  }
  advance(extra);
  return taken + extra;
}

simulated_search::simulated_search(const simulated_scenario& scenario, std::uint64_t seed)
    : scenario_(scenario), chance_(seed * 0x2545F4914F6CDD1D + 1), processor_(scenario.load, seed) {
  const auto size = static_cast<std::size_t>(chance_.uniform(50, 301));
  const double close_part = chance_.uniform(0.05, 0.2);
  for (std::size_t i = 0; i < size; ++i) {
    truth_.push_back(draw_truth(chance_, close_part));
    ranks_.push_back(std::floor(chance_.uniform(0, 4)));
  }
  truth_[static_cast<std::size_t>(chance_.uniform() * static_cast<double>(size))] = 1;
  if (scenario_.alone) {
    for (double& time : truth_) time = time == 1 ? 1 : std::max(time, 1.1 + (time - 1) / 10);
  }
  simulated_chance own(seed);
  for (std::size_t i = 0; i < size; ++i) sensitivities_.push_back(own.uniform(0.8, 1.2));
  least_ = *std::ranges::min_element(truth_);
  step_ = static_cast<std::size_t>(chance_.uniform(0, 1200));
  step_back_ = chance_.uniform() < 0.5 ? std::numeric_limits<std::size_t>::max()
                                       : step_ + static_cast<std::size_t>(chance_.uniform(0, 600));
}

double simulated_search::excess(std::size_t configuration) const {
  return truth_[configuration] / least_ - 1;
}

run_time simulated_search::truth(std::size_t configuration) const {
  return run_time(truth_[configuration] * scenario_.best_ns);
}

run_time simulated_search::typical(std::size_t configuration) {
  return samples(run(configuration, 401)).median();
}

void simulated_search::move_level() {
  const auto launch = static_cast<double>(launches_);
  switch (scenario_.drift) {
    case simulated_drift::none: break;
    case simulated_drift::walk: {
      // Reverts to the mean within about 300 launches; its standard deviation is 2.5 %.
      constexpr double length = 300;
      level_ += -level_ / length + 0.025 * std::sqrt(2 / length) * chance_.normal();
      break;
    }
    case simulated_drift::step:
      level_ = launches_ >= step_ && launches_ < step_back_ ? std::log(1.08) : 0;
      break;
    case simulated_drift::warm_up: level_ = std::log(1 - 0.1 * std::exp(-launch / 100)); break;
    case simulated_drift::burst: level_ = (launches_ + step_) % 300 < 40 ? std::log(1.3) : 0; break;
  }
}

run_time simulated_search::run(std::size_t configuration) {
  move_level();
  ++launches_;
  const double deviate = scenario_.heavy_tails ? draw_student(chance_) : chance_.normal();
  double time = truth_.at(configuration) * std::exp(level_ + scenario_.spread * deviate);
  if (chance_.uniform() < scenario_.outliers) time *= 1 + chance_.uniform(0.2, 3);
  if (scenario_.slices > 0 && chance_.uniform() < scenario_.slices) {
    time *= 1 + chance_.uniform(10, 40);
  }
  processor_.pass(launch_ns + (configuration == last_ ? 0 : change_ns));
  last_ = configuration;
  time = processor_.run(time * scenario_.best_ns, sensitivities_[configuration]);
  device_time_ += time / scenario_.best_ns;
  return run_time(time);
}

std::vector<run_time> simulated_search::run(std::size_t configuration, int times) {
  std::vector<run_time> result;
  for (int i = 0; i < times; ++i) result.push_back(run(configuration));
  return result;
}

simulated_result run_race(const simulated_scenario& scenario, std::uint64_t seed,
                          const race_settings& settings) {
  simulated_search search(scenario, seed);
  race contest(settings);
  for (std::size_t i = 0; i < search.size(); ++i) contest.arrive(i, search.rank(i));
  contest.close();
  while (const auto task = contest.next()) contest.add(search.run(task->configuration, task->runs));
  if (!contest.winner()) throw std::logic_error("a race without a winner");
  const auto size = static_cast<double>(search.size());
  double best_finalist = std::numeric_limits<double>::infinity();
  for (const std::size_t finalist : contest.finalists()) {
    best_finalist = std::min(best_finalist, search.excess(finalist));
  }
  const double launches = static_cast<double>(search.launches()) / size;
  const double device_time = search.device_time() / size;
  const run_time told = contest.score(*contest.winner());
  double untruth = std::abs(told / search.truth(*contest.winner()) - 1);
  if (untruth > 0.1 && scenario.load != simulated_load::none) {
    untruth = std::min(untruth, std::abs(told / search.typical(*contest.winner()) - 1));
  }
  return {.excess = search.excess(*contest.winner()),
          .launches = launches,
          .device_time = device_time,
          .finalists = contest.finalists().size(),
          .best_finalist = best_finalist,
          .untruth = untruth,
          .in_doubt = !contest.in_doubt().empty(),
          .drift = contest.drift()};
}

simulated_result run_equal(const simulated_scenario& scenario, std::uint64_t seed, int launches,
                           bool in_turn) {
  simulated_search search(scenario, seed);
  std::vector<samples> taken(search.size());
  const std::size_t all = search.size() * static_cast<std::size_t>(launches);
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t configuration =
        in_turn ? i % search.size() : i / static_cast<std::size_t>(launches);
    taken[configuration].add(search.run(configuration));
  }
  std::size_t best = 0;
  std::vector<run_time> medians;
  for (const samples& of : taken) medians.push_back(of.median());
  best = static_cast<std::size_t>(std::ranges::min_element(medians) - medians.begin());
  return {.excess = search.excess(best),
          .launches = static_cast<double>(launches),
          .device_time = search.device_time() / static_cast<double>(search.size())};
}

}  // namespace tune::testing
