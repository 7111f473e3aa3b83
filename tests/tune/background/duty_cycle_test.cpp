// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/duty_cycle.hpp"

#include <chrono>
#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/behind/background_tuner.hpp"
#include "tests/measure/simulated_search.hpp"

namespace duty_cycle_test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tune::detail::back_off;
using tune::detail::duty_cycle;
using tune::detail::sentinel_judge;
using tune::detail::usage_queue;

/// The part of the time that is used by steps of random length, each of which begins a little late.
double share_used(double share, double slowdown = 1) {
  tune::testing::fake_clock clock;
  tune::testing::simulated_chance chance(1);
  duty_cycle cycle;
  nanoseconds used{0};
  for (int i = 0; i < 10'000; ++i) {
    clock.advance(cycle.next(share, slowdown) - clock.now());
    clock.advance(nanoseconds(static_cast<long>(chance.uniform(0, 60e3))));
    const nanoseconds step(static_cast<long>(chance.uniform(0.2e6, 1.2e6)));
    clock.advance(step);
    cycle.used(step, clock.now());
    used += step;
  }
  return static_cast<double>(used.count()) /
         static_cast<double>(clock.now().time_since_epoch().count());
}

TEST_CASE("steps use the share that they may, within a tenth of it, and never more") {
  for (const double share : {0.01, 0.05, 0.2, 0.5}) {
    CAPTURE(share);
    CHECK(share_used(share) > 0.9 * share);
    CHECK(share_used(share) <= share);
  }
  CHECK(share_used(0.05, 4) == doctest::Approx(0.0130).epsilon(0.1));
}

TEST_CASE("a step is followed by no pause where it may use all the time") {
  duty_cycle cycle;
  CHECK(cycle.next(0.05) == duty_cycle::clock::time_point());
  const auto now = duty_cycle::clock::time_point(1s);
  cycle.used(1ms, now);
  CHECK(cycle.next(1) == now);
  CHECK(cycle.next(0.5) == now + 1ms);
  CHECK(cycle.next(0.05) == now + 19ms);
  cycle.used(10s, now);
  CHECK(cycle.next(1e-6, 64) == now + 60s);
}

TEST_CASE("pauses become longer at once, and shorter slowly") {
  back_off pace;
  CHECK(pace.factor() == 1);
  pace.look(true);
  pace.look(true);
  CHECK(pace.factor() == 4);
  int quiet = 0;
  for (; pace.factor() > 1; ++quiet) pace.look(false);
  CHECK(quiet > 10);
  CHECK(quiet < 20);
  for (int i = 0; i < 100; ++i) pace.look(true);
  CHECK(pace.factor() == back_off::most);
}

TEST_CASE("samples beside a slow sentinel are taken again, a few times") {
  sentinel_judge judge;
  for (int i = 0; i < 10; ++i) CHECK(judge.is_good(100, 101));
  CHECK(judge.usual() == doctest::Approx(100));
  CHECK(judge.is_good(110, 90));
  CHECK_FALSE(judge.is_good(100, 400));
  CHECK_FALSE(judge.is_good(400, 100));
  CHECK(judge.is_good(100, 100));
  for (int i = 0; i < sentinel_judge::most_repeats; ++i) CHECK_FALSE(judge.is_good(400, 400));
  CHECK(judge.is_good(400, 400));
}

TEST_CASE("a device that is slower for good is soon the usual one") {
  sentinel_judge judge;
  for (int i = 0; i < 100; ++i) static_cast<void>(judge.is_good(100, 100));
  for (int i = 0; i < 20; ++i) static_cast<void>(judge.is_good(200, 200));
  for (int i = 0; i < 10; ++i) CHECK(judge.is_good(200, 200));
}

TEST_CASE("keys are tuned in the order of what they are worth") {
  usage_queue queue;
  CHECK_FALSE(queue.next());
  queue.ask("first", 1);
  queue.ask("often", 1);
  queue.ask("often", 1);
  queue.ask("nearest", 0.25);
  queue.ask("nearest", 0.25);
  queue.ask("nearest", 0.25);
  CHECK(queue.size() == 3);
  CHECK(queue.next() == "often");
  CHECK(queue.next() == "first");
  CHECK(queue.next() == "nearest");
  CHECK_FALSE(queue.next());
}

}  // namespace duty_cycle_test
