// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/measure/simulated_jumps.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace tune::testing {
namespace {

constexpr double noise = 0.003;
constexpr std::size_t few = 8;
constexpr std::size_t best_of_few = 5;
constexpr std::size_t most_launches = 1'000'000;

class jumping_device {
 public:
  jumping_device(const jump_scenario& scenario, std::uint64_t seed)
      : scenario_(scenario), chance_(seed * 0x9E3779B97F4A7C15 + 7) {
    if (scenario_.period == 0) {
      scenario_.period = static_cast<int>(std::exp(chance_.uniform(0, std::log(1000))) + 0.5);
    }
    if (scenario_.random_phase) {
      launch_ = static_cast<std::size_t>(chance_.uniform(0, 6.0 * scenario_.period));
      slow_ = chance_.uniform() < 0.5;
    }
  }

  double run(double alone_ns, bool is_heavy) {
    const double state = jumps_ ? slowness() : 0;
    if (jumps_) ++launch_;
    if (++launches_ > most_launches) throw std::runtime_error("a race does not end");
    if (is_heavy) since_heavy_ = 0;
    return alone_ns * std::exp(state * std::log1p(scenario_.jump) + noise * chance_.normal());
  }
  void start_jumping(bool now) { jumps_ = jumps_ || now; }
  std::size_t launches() const noexcept { return launches_; }

 private:
  // Zero is the fastest state, one the slowest.
  double slowness() {
    const auto period = static_cast<std::size_t>(scenario_.period);
    switch (scenario_.kind) {
      case simulated_jumps::none: return 0;
      case simulated_jumps::square: {
        const auto place = static_cast<double>(launch_ % (2 * period));
        return place >= (1 - scenario_.slow_part) * 2 * scenario_.period ? 1 : 0;
      }
      case simulated_jumps::three: return static_cast<double>(launch_ / period % 3) / 2;
      case simulated_jumps::telegraph:
        if (chance_.uniform() < scenario_.probability) slow_ = !slow_;
        return slow_ ? 1 : 0;
      case simulated_jumps::after_heavy: return since_heavy_++ < period ? 1 : 0;
    }
    return 0;
  }

  jump_scenario scenario_;
  simulated_chance chance_;
  bool jumps_ = false;
  bool slow_ = false;
  std::size_t launch_ = 0;
  std::size_t launches_ = 0;
  std::size_t since_heavy_ = 1'000'000;
};

std::vector<double> truth_of(const jump_scenario& scenario, std::uint64_t seed) {
  std::vector<double> truth;
  if (scenario.many) {
    const simulated_search search({.name = scenario.name}, seed);
    for (std::size_t i = 0; i < search.size(); ++i) truth.push_back(1 + search.excess(i));
  } else {
    truth.assign(few, 1);
    truth[best_of_few] = 1 - scenario.gain;
  }
  for (double& time : truth) time *= scenario.best_ns;
  return truth;
}

}  // namespace

jump_result run_jump_race(const jump_scenario& scenario, std::uint64_t seed,
                          const race_settings& settings) {
  const std::vector<double> truth = truth_of(scenario, seed);
  const double best = *std::ranges::min_element(truth);
  jumping_device device(scenario, seed);
  race contest(settings);
  for (std::size_t i = 0; i < truth.size(); ++i) contest.arrive(i);
  contest.close();
  while (const auto task = contest.next()) {
    device.start_jumping(!scenario.in_final || task->step == race_step::final_round);
    std::vector<run_time> times;
    const double alone = truth[task->configuration];
    const bool is_heavy = task->configuration % 2 == 0 && alone > best;
    for (int i = 0; i < task->runs; ++i) times.emplace_back(device.run(alone, is_heavy));
    contest.add(times);
  }
  if (!contest.winner()) throw std::logic_error("a race without a winner");
  const double alone = truth[*contest.winner()];
  const double told = contest.score(*contest.winner()).count() / alone;
  return {.excess = alone / best - 1,
          .warned = !contest.drift().resolved() || !contest.in_doubt().empty(),
          .told = told > 0.98 && told < 1.02 * (1 + scenario.jump),
          .launches = static_cast<double>(device.launches()),
          .drift = contest.drift()};
}

jump_summary summarise_jumps(jump_scenario scenario, std::size_t races) {
  jump_summary sum;
  const auto count = static_cast<double>(races);
  for (std::size_t i = 0; i < races; ++i) {
    scenario.jump = std::vector{0.1, 0.3, 0.4}[i % 3];
    scenario.gain = std::vector{0.03, 0.1, 0.25}[i / 3 % 3];
    const jump_result race = run_jump_race(scenario, i + 1);
    const bool is_right = race.excess <= 0.01;
    sum.success += is_right ? 1 / count : 0;
    sum.silent += !is_right && !race.warned ? 1 / count : 0;
    sum.warned += race.warned ? 1 / count : 0;
    sum.told += race.told ? 1 / count : 0;
    sum.worst = std::max(sum.worst, race.excess);
    sum.launches += race.launches / count;
    sum.most_launches = std::max(sum.most_launches, race.launches);
  }
  return sum;
}

std::vector<jump_scenario> jump_scenarios() {
  using enum simulated_jumps;
  const std::vector<jump_scenario> kinds{
      {.name = "square, 1 to 1000", .kind = square, .period = 0},
      {.name = "square, 1", .kind = square, .period = 1},
      {.name = "square, 2", .kind = square, .period = 2},
      {.name = "square, 4", .kind = square, .period = 4},
      {.name = "square, 8", .kind = square, .period = 8},
      {.name = "square, 16", .kind = square, .period = 16},
      {.name = "square, 50", .kind = square, .period = 50},
      {.name = "square, 300", .kind = square, .period = 300},
      {.name = "square, 1000", .kind = square, .period = 1000},
      {.name = "short slow, 20", .kind = square, .period = 20, .slow_part = 0.2},
      {.name = "long slow, 20", .kind = square, .period = 20, .slow_part = 0.8},
      {.name = "three states, 3", .kind = three, .period = 3},
      {.name = "three states, 10", .kind = three, .period = 10},
      {.name = "three states, 40", .kind = three, .period = 40},
      {.name = "random, 0.5", .kind = telegraph, .probability = 0.5},
      {.name = "random, 0.1", .kind = telegraph, .probability = 0.1},
      {.name = "random, 0.01", .kind = telegraph, .probability = 0.01},
      {.name = "after heavy, 1", .kind = after_heavy, .period = 1},
      {.name = "after heavy, 3", .kind = after_heavy, .period = 3},
      {.name = "after heavy, 10", .kind = after_heavy, .period = 10},
      {.name = "in the final, 3", .kind = square, .period = 3, .in_final = true},
      {.name = "in the final, 20", .kind = square, .period = 20, .in_final = true},
      {.name = "50 ms, 7", .kind = square, .period = 7, .best_ns = 5e7}};
  std::vector<jump_scenario> found;
  for (const jump_scenario& kind : kinds) {
    for (const bool many : {false, true}) {
      found.push_back(kind);
      found.back().many = many;
      found.back().random_phase = true;
      if (many) found.back().name += ", many";
    }
  }
  return found;
}

}  // namespace tune::testing
