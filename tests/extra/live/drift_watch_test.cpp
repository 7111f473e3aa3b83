// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/drift_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <random>

#include "libtune/extra/live/probation.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/extra/live/service_noise.hpp"

namespace drift_watch_test {

using tune::detail::drift_watch;
using tune::detail::probation;
using tune::detail::verdict;
using tune::testing::service_noise;

/// Times about 1000 ns, with noise, and an outlier among a hundred.
class times {
 public:
  times(std::uint64_t seed, double noise) : random_(seed), noise_(noise) {}

  double next(double level = 1) {
    const double outlier = uniform_(random_) < 0.01 ? 5 : 1;
    return 1000 * level * std::exp(noise_ * normal_(random_)) * outlier;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double noise_;
};

constexpr std::size_t to_learn = drift_watch::block * drift_watch::reference_blocks;

TEST_CASE("a million times of one distribution raise no alarm") {
  for (const double noise : {0.005, 0.02, 0.05, 0.20}) {
    CAPTURE(noise);
    int alarms = 0;
    // Many references, for each is another estimate.
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      times source(seed, noise);
      drift_watch watch;
      for (int i = 0; i < 5000; ++i) alarms += watch.add(source.next()) ? 1 : 0;
    }
    times source(99, noise);
    drift_watch watch;
    for (int i = 0; i < 50'000; ++i) alarms += watch.add(source.next()) ? 1 : 0;
    CHECK(alarms == 0);
  }
  times source(1, 0.03);
  drift_watch watch;
  int alarms = 0;
  for (int i = 0; i < 1'000'000; ++i) alarms += watch.add(source.next()) ? 1 : 0;
  CHECK(alarms == 0);
}

TEST_CASE(
    "a shift of 10 % to either side is found within a few windows, once, and is the new "
    "reference") {
  for (const double level : {1.1, 0.9}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(level);
      CAPTURE(seed);
      times source(seed, 0.05);
      drift_watch watch;
      for (std::size_t i = 0; i < to_learn + 1000; ++i) CHECK(!watch.add(source.next()));
      std::optional<tune::detail::drift> found;
      std::size_t taken = 0;
      while (!found && taken < 8 * drift_watch::window * drift_watch::block) {
        found = watch.add(source.next(level));
        ++taken;
      }
      REQUIRE(found);
      CHECK(taken <= 4 * drift_watch::window * drift_watch::block);
      CHECK(found->now_ns / found->reference_ns == doctest::Approx(level).epsilon(0.04));
      CHECK(!watch.reference_ns());
      for (int i = 0; i < 3000; ++i) CHECK(!watch.add(source.next(level)));
      CHECK(*watch.reference_ns() == doctest::Approx(1000 * level).epsilon(0.03));
    }
  }
}

TEST_CASE("outliers, a short disturbance and times that are none raise no alarm") {
  times source(5, 0.02);
  drift_watch watch;
  for (std::size_t i = 0; i < to_learn; ++i) CHECK(!watch.add(source.next()));
  const tune::testing::allocation_counter counter;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 90; ++i) CHECK(!watch.add(source.next(1.5)));
    for (int i = 0; i < 200; ++i) CHECK(!watch.add(source.next()));
    CHECK(!watch.add(0));
    CHECK(!watch.add(-5));
    CHECK(!watch.add(std::nan("")));
  }
  CHECK(counter.count() == 0);
  CHECK(watch.reference_ns());
  watch.restart();
  CHECK(!watch.reference_ns());
}

/// The median of a block of times.
double block(service_noise& noise, double ratio) {
  std::array<double, 7> times{};
  for (double& each : times) each = noise.next(1000 * ratio);
  std::ranges::nth_element(times, times.begin() + 3);
  return times[3];
}

struct result {
  verdict end;
  std::size_t pairs;
  double ratio;
};

result compare(double true_ratio, std::uint64_t seed) {
  service_noise noise(seed);
  probation trial(seed);
  while (true) {
    const bool first = trial.candidate_first();
    const double one = block(noise, first ? true_ratio : 1);
    const double other = block(noise, first ? 1 : true_ratio);
    const verdict end = trial.add(first ? one / other : other / one);
    if (end != verdict::open) return {end, trial.pairs(), trial.ratio()};
  }
}

TEST_CASE("of 1,000 swaps under noise and drift none that is no gain is kept") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> amount(0.01, 0.20);
  int wrong = 0, found = 0, clear = 0, found_clear = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const bool better = i % 2 == 0;
    const bool tie = i % 4 == 1;
    const double change = amount(random);
    const double ratio = better ? 1 - change : tie ? 1 : 1 + change;
    const result end = compare(ratio, i + 1);
    CHECK(end.pairs <= probation::most_pairs);
    if (!better && end.end == verdict::keep) ++wrong;
    if (better && end.end == verdict::keep) ++found;
    if (better && change > 0.03) ++clear;
    if (better && change > 0.03 && end.end == verdict::keep) ++found_clear;
  }
  MESSAGE("kept ", found, " of 500 gains, ", found_clear, " of ", clear, " above 3 %");
  CHECK(wrong == 0);
  CHECK(found >= 450);
  CHECK(found_clear == clear);
}

TEST_CASE("a candidate that is far slower is taken back after one, two or four pairs") {
  for (const auto& [ratio, pairs] : {std::pair(1.3, 4), {1.9, 2}, {5.0, 1}}) {
    const result end = compare(ratio, 3);
    CHECK(end.end == verdict::take_back);
    CHECK(end.pairs == static_cast<std::size_t>(pairs));
  }
}

TEST_CASE("a clear gain is kept at the first look, a gain too small for a swap is not") {
  probation clear;
  for (int i = 0; i < 23; ++i) CHECK(clear.add(0.9 + 0.001 * i) == verdict::open);
  CHECK(clear.add(0.9) == verdict::keep);
  CHECK(clear.ratio() == doctest::Approx(0.911).epsilon(0.01));

  probation small;
  verdict end = verdict::open;
  while (end == verdict::open) end = small.add(0.997);
  CHECK(end == verdict::take_back);
}

TEST_CASE("equal times are taken back, and times that are none are passed over") {
  probation trial;
  CHECK(trial.ratio() == 1);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    CHECK(trial.add(bad) == verdict::open);
  }
  CHECK(trial.pairs() == 0);
  verdict end = verdict::open;
  while (end == verdict::open) end = trial.add(1);
  CHECK(end == verdict::take_back);
  CHECK(trial.pairs() == 96);
}

TEST_CASE("the order within pairs is random, and a probation allocates nothing") {
  probation trial(5);
  int first = 0;
  for (int i = 0; i < 1000; ++i) first += trial.candidate_first() ? 1 : 0;
  CHECK(first > 450);
  CHECK(first < 550);
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 300; ++i) static_cast<void>(trial.add(0.999));
  CHECK(counter.count() == 0);
}

}  // namespace drift_watch_test
