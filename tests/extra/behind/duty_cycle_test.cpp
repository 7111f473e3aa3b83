// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/duty_cycle.hpp"

#include <chrono>
#include <doctest/doctest.h>

#include "libtune/extra/behind/background_tuner.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/measure/simulated_search.hpp"

namespace duty_cycle_test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tune::detail::back_off;
using tune::detail::duty_cycle;
using tune::detail::sentinel_judge;
using tune::detail::usage_queue;

/// The part of the time that is used by steps of random length, each of which begins a little late.
double share_used(double share) {
  tune::testing::fake_clock clock;
  tune::testing::simulated_chance chance(1);
  duty_cycle cycle;
  nanoseconds used{0};
  for (int i = 0; i < 10'000; ++i) {
    clock.advance(cycle.next(share) - clock.now());
    clock.advance(nanoseconds(static_cast<long>(chance.uniform(0, 60e3))));
    const nanoseconds step(static_cast<long>(chance.uniform(0.2e6, 1.2e6)));
    clock.advance(step);
    cycle.used(step, clock.now(), share);
    used += step;
  }
  clock.advance(cycle.next(share) - clock.now());
  return static_cast<double>(used.count()) /
         static_cast<double>(clock.now().time_since_epoch().count());
}

TEST_CASE("steps use the share that they may, within a tenth of it, and never more") {
  for (const double share : {0.01, 0.05, 0.2, 0.5}) {
    CAPTURE(share);
    CHECK(share_used(share) > 0.9 * share);
    CHECK(share_used(share) <= share);
  }
}

TEST_CASE("a step is followed by no pause where it may use all the time") {
  duty_cycle cycle;
  CHECK(cycle.next(0.05) == duty_cycle::clock::time_point());
  const auto now = duty_cycle::clock::time_point(1s);
  cycle.used(1ms, now, 1);
  CHECK(cycle.next(1) == now);
}

TEST_CASE("the pause after a step is what the share makes of it") {
  const auto now = duty_cycle::clock::time_point(1s);
  duty_cycle half;
  half.used(1ms, now, 0.5);
  CHECK(half.next(0.5) == now + 1ms);
  duty_cycle small;
  small.used(1ms, now, 0.05);
  CHECK(small.next(0.05) == now + 19ms);
  small.used(10s, now + 19ms, 1e-6);
  CHECK(small.next(1e-6) == now + 19ms + 60s);
}

TEST_CASE("a time without a step is made up for by shorter pauses, and not for ever") {
  duty_cycle cycle;
  auto now = duty_cycle::clock::time_point(1s);
  cycle.used(1ms, now, 0.05);
  now += 10s;  // a program is compiled
  int shorter = 0;
  while (true) {
    now += 1ms;
    cycle.used(1ms, now, 0.05);
    const auto pause = cycle.next(0.05) - now;
    CHECK(pause >= 9ms);
    now += pause;
    if (pause >= 19ms) break;
    ++shorter;
  }
  // 200 ms pay for ten steps, of which each takes half as long as usual.
  CHECK(shorter > 10);
  CHECK(shorter < 25);
}

TEST_CASE("pauses become longer at once, and the pace comes back in equal steps") {
  back_off pace;
  CHECK(pace.factor() == 1);
  pace.look(true);
  pace.look(true);
  CHECK(pace.factor() == 4);
  int quiet = 0;
  for (; pace.factor() > 1; ++quiet) pace.look(false);
  CHECK(quiet == 6);
  for (int i = 0; i < 100; ++i) pace.look(true);
  CHECK(pace.factor() == 1 / back_off::least);
  for (quiet = 0; pace.factor() > 1; ++quiet) pace.look(false);
  CHECK(quiet == 8);
}

TEST_CASE("samples beside a slow sentinel are taken again, a few times") {
  sentinel_judge judge;
  for (int i = 0; i < 10; ++i) CHECK(judge.is_good(100 + i % 2));
  CHECK(judge.usual() == doctest::Approx(101).epsilon(0.011));
  CHECK(judge.is_good(120));
  CHECK_FALSE(judge.is_good(400));
  CHECK(judge.is_good(100));
  for (int i = 0; i < sentinel_judge::most_repeats; ++i) CHECK_FALSE(judge.is_good(400));
  CHECK(judge.is_good(400));
}

TEST_CASE("a sentinel whose time varies by itself is no sign of anything") {
  sentinel_judge judge;
  for (int i = 0; i < 40; ++i) static_cast<void>(judge.is_good(i % 2 == 0 ? 100 : 180));
  for (int i = 0; i < 40; ++i) CHECK(judge.is_good(i % 2 == 0 ? 110 : 200));
}

TEST_CASE("a device that is slower for good is soon the usual one") {
  sentinel_judge judge;
  for (int i = 0; i < 100; ++i) static_cast<void>(judge.is_good(100));
  for (int i = 0; i < 20; ++i) static_cast<void>(judge.is_good(200));
  for (int i = 0; i < 10; ++i) CHECK(judge.is_good(200));
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
