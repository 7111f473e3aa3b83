// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/drift_watch.hpp"

#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <random>

#include "libtune/testing/allocation_counter.hpp"

namespace drift_watch_test {

using tune::detail::drift_watch;

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

}  // namespace drift_watch_test
