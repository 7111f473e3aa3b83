// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/page_gate.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <thread>

#include "libtune/child/remote_tuning.hpp"
#include "libtune/tune/error.hpp"

namespace page_gate_test {

using namespace std::chrono_literals;
using tune::step_kind;
using tune::detail::behind_part;
using tune::detail::gate_page;
using tune::detail::page_gate;

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

}  // namespace page_gate_test
