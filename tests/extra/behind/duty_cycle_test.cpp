// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/duty_cycle.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <thread>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/extra/behind/page_gate.hpp"
#include "libtune/extra/behind/usage_queue.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/error.hpp"
#include "tests/measure/simulated_search.hpp"

namespace duty_cycle_test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tune::step_kind;
using tune::detail::back_off;
using tune::detail::behind_part;
using tune::detail::duty_cycle;
using tune::detail::gate_page;
using tune::detail::page_gate;
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

std::shared_ptr<void> nothing() { return std::make_shared<int>(0); }

/// A page whose gate makes no pauses.
struct scene {
  scene() { page.share_ppm = 1'000'000; }

  gate_page page;
  page_gate gate{page};
};

TEST_CASE("what passes the gate is a slice, and is counted") {
  scene s;
  s.gate.enter(false, nothing);
  CHECK(s.page.inside == 1);
  s.gate.leave(step_kind::samples);
  CHECK(s.page.inside == 0);
  CHECK(s.page.slices == 1);
  CHECK(s.page.longest_ns == s.page.used_ns);
  s.gate.leave(step_kind::samples);
  CHECK(s.page.slices == 1);
}

/// Computes for 20 ms, and waits as long for something else.
void compute() {
  const auto until = std::chrono::steady_clock::now() + 20ms;
  while (std::chrono::steady_clock::now() < until) {
  }
}
void wait() { std::this_thread::sleep_for(20ms); }

std::uint64_t use_of(scene& s, step_kind kind, void (*step)()) {
  const auto before = s.page.used_ns.load();
  s.gate.enter(false, nothing);
  step();
  s.gate.leave(kind);
  return s.page.used_ns.load() - before;
}

/// Has another thread compute, as the driver of a CPU does.
void compute_beside() { std::thread(compute).join(); }

TEST_CASE("what the threads of a driver compute is use of a CPU") {
  scene s;
  s.page.least_ns = 0;
  CHECK(use_of(s, step_kind::samples, compute) >= 20'000'000);  // it times itself
  CHECK(use_of(s, step_kind::first_run, compute_beside) > 0);
  for (const auto kind : {step_kind::generate, step_kind::first_run}) {
    CHECK(use_of(s, kind, wait) < 10'000'000);
    CHECK(use_of(s, kind, compute) < 10'000'000);
  }
}

TEST_CASE("in a process of the application's, what a step waits for is use of a CPU") {
  scene s;
  s.page.least_ns = 0;
  page_gate here(s.page, [] { return false; });
  const auto before = s.page.used_ns.load();
  here.enter(false, nothing);
  wait();
  here.leave(step_kind::first_run);
  CHECK(s.page.used_ns - before >= 15'000'000);
}

TEST_CASE("where drivers wait by computing, steps count as a little at least") {
  scene s;
  s.page.least_ns = 7'000'000;
  s.page.slice_ns = 28'000'000;
  CHECK(use_of(s, step_kind::first_run, compute) >= 7'000'000);
  CHECK(use_of(s, step_kind::first_run, wait) >= 15'000'000);
  CHECK(use_of(s, step_kind::generate, wait) == 7'000'000);  // of memory, of a program
}

TEST_CASE("the wall-clock time is told by what it was for") {
  scene s;
  for (const auto kind : {step_kind::generate, step_kind::first_run, step_kind::samples}) {
    static_cast<void>(use_of(s, kind, wait));
  }
  CHECK(s.page.spent(behind_part::preparing) >= 20ms);
  CHECK(s.page.spent(behind_part::checking) >= 20ms);
  CHECK(s.page.spent(behind_part::measuring) >= 20ms);
  CHECK(s.page.spent(behind_part::repeating) == 0ms);
  s.page.share_ppm = 500'000;
  s.page.slowdown_percent = 200;
  s.gate.enter(false, nothing);
  wait();
  s.gate.leave(step_kind::samples);
  s.gate.enter(false, nothing);
  s.gate.leave(step_kind::samples);
  CHECK(s.page.spent(behind_part::pausing) > 0ms);
  CHECK(s.page.spent(behind_part::slowing) > 0ms);
}

TEST_CASE("a step that lasts longer than a slice is due, unless the device is idle") {
  scene s;
  CHECK_FALSE(s.gate.is_due());
  s.gate.enter(false, nothing);
  s.page.slice_ns = 3'600'000'000'000;
  CHECK_FALSE(s.gate.is_due());
  s.page.slice_ns = 0;
  CHECK(s.gate.is_due());
  s.page.windows = 1;
  CHECK_FALSE(s.gate.is_due());
  s.page.windows = 0;
  s.gate.leave(step_kind::first_run);
  CHECK_FALSE(s.gate.is_due());
}

TEST_CASE("where frames are late, the samples of a step are fewer, too") {
  scene s;
  s.page.visit_ns = 400'000;
  CHECK(s.gate.visit() == 400us);
  s.page.slowdown_percent = 200;
  CHECK(s.gate.visit() == 200us);
  s.page.slowdown_percent = 3200;
  CHECK(s.gate.visit() == 100us);
}

TEST_CASE("a step inside another ends that one's slice") {
  scene s;
  s.gate.enter(false, nothing);
  s.gate.enter(false, nothing);
  CHECK(s.page.slices == 1);
  CHECK(s.page.inside == 1);
  s.gate.leave(step_kind::samples);
  s.gate.leave(step_kind::samples);
  CHECK(s.page.slices == 2);
  CHECK(s.page.inside == 0);
}

TEST_CASE("nothing begins while it is held, and what waits has released what others want") {
  scene s;
  s.page.holds = 1;
  std::atomic<int> released{0};
  std::atomic<bool> passed{false};
  std::thread search([&] {
    s.gate.enter(false, [&] {
      ++released;
      return nothing();
    });
    passed = true;
    s.gate.leave(step_kind::samples);
  });
  while (released == 0) std::this_thread::sleep_for(100us);
  CHECK_FALSE(passed);
  CHECK(s.page.inside == 0);
  s.page.holds = 0;
  tune::detail::wake(s.page);
  search.join();
  CHECK(passed);
  CHECK(released == 1);
}

/// Gaps of an hour, so that no real time matters.
void tell_long_gaps(tune::detail::quiet_moments& quiet) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  quiet.begin(now - 2h);
  quiet.end(now - 1h);
  quiet.begin(now);
}

TEST_CASE("while an application has work on the device, a step waits for the end of it") {
  scene s;
  tell_long_gaps(s.page.quiet);
  std::atomic<int> waited{0};
  std::thread search([&] {
    s.gate.enter(false, [&] {
      ++waited;
      return nothing();
    });
    s.gate.leave(step_kind::samples);
  });
  while (waited == 0) std::this_thread::sleep_for(100us);
  s.page.quiet.end(std::chrono::steady_clock::now().time_since_epoch());
  search.join();
  CHECK(s.page.slices == 1);
  s.gate.enter(false, [&] {
    ++waited;
    return nothing();
  });
  CHECK(waited == 1);
}

TEST_CASE("a step does not wait for ever for an application that never leaves the device") {
  scene s;
  tell_long_gaps(s.page.quiet);
  s.gate.enter(false, nothing);
  CHECK(s.page.inside == 1);
}

TEST_CASE("where all gaps are shorter than a step, none is waited for") {
  scene s;
  tell_long_gaps(s.page.quiet);
  s.page.visit_ns = std::chrono::nanoseconds(2h).count();
  int waited = 0;
  s.gate.enter(false, [&] {
    ++waited;
    return nothing();
  });
  CHECK(waited == 0);
}

TEST_CASE("long runs wait for a window") {
  scene s;
  CHECK_FALSE(s.gate.has_windows());
  CHECK(s.gate.is_too_long(tune::run_time(2e6)));
  CHECK_FALSE(s.gate.is_too_long(tune::run_time(0.5e6)));
  std::atomic<bool> waits{false};
  std::thread search([&] {
    s.gate.enter(true, [&] {
      waits = true;
      return nothing();
    });
    s.gate.leave(step_kind::samples);
  });
  while (!waits) std::this_thread::sleep_for(100us);
  CHECK(s.page.slices == 0);
  s.page.windows_seen = 1;
  s.page.windows = 1;
  tune::detail::wake(s.page);
  search.join();
  CHECK(s.page.slices == 1);
  CHECK(s.gate.has_windows());
}

TEST_CASE("an open window is used without pauses") {
  scene s;
  s.page.share_ppm = 1;
  s.page.windows = 1;
  for (int i = 0; i < 3; ++i) {
    s.gate.enter(false, [] {
      FAIL("it waits");
      return nothing();
    });
    std::this_thread::sleep_for(1ms);
    s.gate.leave(step_kind::samples);
  }
  CHECK(s.page.slices == 3);
}

TEST_CASE("a search in the application ends at the gate when it is told to") {
  gate_page page;
  std::atomic<bool> stops{false};
  page_gate gate(page, [&] { return stops.load(); });
  gate.enter(false, nothing);
  gate.leave(step_kind::samples);
  stops = true;
  CHECK_THROWS_AS(gate.enter(false, nothing), tune::tuning_stopped_error);
  stops = false;
  page.holds = 1;
  std::thread ends([&] {
    std::this_thread::sleep_for(5ms);
    stops = true;
  });
  CHECK_THROWS_AS(gate.enter(false, nothing), tune::tuning_stopped_error);
  ends.join();
  CHECK(page.inside == 0);
}

}  // namespace duty_cycle_test
