// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/page_gate.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <thread>

#include "libtune/tune/remote/remote_tuning.hpp"

namespace page_gate_test {

using namespace std::chrono_literals;
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
  s.gate.leave(true);
  CHECK(s.page.inside == 0);
  CHECK(s.page.slices == 1);
  CHECK(s.page.longest_ns == s.page.used_ns);
  s.gate.leave(true);
  CHECK(s.page.slices == 1);
}

TEST_CASE("what the host computes within a step is no use of the device, but for a slice") {
  scene s;
  const auto compute = [&] {
    const auto until = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  s.gate.enter(false, nothing);
  compute();
  s.gate.leave(true);
  const auto timed = s.page.used_ns.load();
  CHECK(timed >= 20'000'000);
  s.gate.enter(false, nothing);
  std::this_thread::sleep_for(20ms);
  s.gate.leave(false);
  CHECK(s.page.used_ns - timed >= 15'000'000);
  s.page.slice_ns = 7'000'000;
  const auto before = s.page.used_ns.load();
  s.gate.enter(false, nothing);
  compute();
  s.gate.leave(false);
  CHECK(s.page.used_ns - before >= 7'000'000);
}

TEST_CASE("a step inside another ends that one's slice") {
  scene s;
  s.gate.enter(false, nothing);
  s.gate.enter(false, nothing);
  CHECK(s.page.slices == 1);
  CHECK(s.page.inside == 1);
  s.gate.leave(true);
  s.gate.leave(true);
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
    s.gate.leave(true);
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
    s.gate.leave(true);
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
    s.gate.leave(true);
  }
  CHECK(s.page.slices == 3);
}

TEST_CASE("a search in the application ends at the gate when it is told to") {
  gate_page page;
  std::atomic<bool> stops{false};
  page_gate gate(page, [&] { return stops.load(); });
  gate.enter(false, nothing);
  gate.leave(true);
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
