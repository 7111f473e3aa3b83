// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What loop_wait::polling changes: the loop asks devices itself, and everything else is as asleep.
#include <chrono>
#include <doctest/doctest.h>
#include <thread>

#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/extra/pipeline/manual_event.hpp"

namespace polling_test {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

tune::task<> wait_for(manual::manual_event& waited, bool* has_begun = nullptr) {
  if (has_begun != nullptr) *has_begun = true;
  co_await tune::wait_for_events(waited.handle());
}

tune::task<int> result_of(tune::future<int> waited) { co_return co_await waited; }

tune::task<bool> is_late(tune::future<> waited, clock::time_point deadline) {
  try {
    co_await tune::wait_until(waited, deadline);
    co_return false;
  } catch (const tune::deadline_error&) {
    co_return true;
  }
}

TEST_CASE("a polling loop asks the events itself: no thread waits for them") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event waited;
  std::thread device([&] {
    while (waited.handles() == 0) std::this_thread::yield();
    CHECK(waited.waiters() == 0);
    waited.complete();
  });
  loop.run(wait_for(waited));
  device.join();
  CHECK(waited.handles() == 0);
}

TEST_CASE("the error of a polled event is the error of the wait") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event waited;
  waited.fail("the device is gone");
  CHECK_THROWS_WITH_AS(loop.run(wait_for(waited)), "the device is gone", tune::error);
}

TEST_CASE("a polling loop serves other threads, deadlines and stop") {
  tune::event_loop loop(tune::loop_wait::polling);
  tune::promise<int> number;
  std::thread other([&] { number.set(5); });
  CHECK(loop.run(result_of(number.get_future())) == 5);
  other.join();

  tune::promise<> never;
  CHECK(loop.run(is_late(never.get_future(), clock::now() + 1ms)));

  loop.stop();
  loop.run();
  std::thread stopper([&] { loop.stop(); });
  loop.run();
  stopper.join();
}

TEST_CASE("a polled event may end between two runs of the loop") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event slow;
  manual::manual_event fast;
  fast.complete();
  const auto first = loop.spawn(wait_for(slow));
  loop.run(wait_for(fast));
  CHECK_FALSE(first.is_ready());
  slow.complete();
  loop.run_until(first);
  CHECK(first.is_ready());
}

TEST_CASE("tasks that keep a polling loop busy do not keep it from the device") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event waited;
  waited.complete();
  const tune::future<> seen = loop.spawn(wait_for(waited));
  int rounds = 0;
  const auto wakes_itself = [&]() -> tune::task<> {
    for (; rounds < 1000 && !seen.is_ready(); ++rounds) {
      tune::promise<int> next;
      const auto waits = loop.spawn(result_of(next.get_future()));
      next.set(1);
      co_await waits;
    }
  };
  loop.run(wakes_itself());
  CHECK(seen.is_ready());
  CHECK(rounds < 1000);
}

TEST_CASE("a sleeping loop in a task of a polling one waits as without that") {
  manual::manual_event waited;
  const auto runs_another = [&]() -> tune::task<> {
    tune::event_loop inner;
    std::thread device([&] {
      while (waited.handles() == 0) std::this_thread::yield();
      waited.complete();
    });
    const auto ended = inner.spawn(wait_for(waited));
    inner.run(is_late(ended, clock::now() + 5s));
    device.join();
    CHECK_FALSE(ended.is_cancelled());
    CHECK(ended.is_ready());
    co_return;
  };
  tune::event_loop outer(tune::loop_wait::polling);
  outer.run(runs_another());
}

TEST_CASE("outside of the loop's runs, threads wait as before") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event waited;
  const tune::future<> end = tune::wait_for_events(waited.handle());
  waited.wait_for_waiter();
  waited.complete();
  end.get();
}

TEST_CASE("the end of a polling loop cancels its tasks and leaves no event") {
  manual::manual_event waited;
  bool has_begun = false;
  tune::future<> end = [&] {
    tune::event_loop loop(tune::loop_wait::polling);
    manual::manual_event other;
    other.complete();
    const auto spawned = loop.spawn(wait_for(waited, &has_begun));
    loop.run(wait_for(other));
    waited.complete();
    return spawned;
  }();
  CHECK(has_begun);
  CHECK(end.is_ready());
  CHECK(waited.handles() == 0);
}

TEST_CASE("tasks of a polling loop allocate nothing") {
  tune::event_loop loop(tune::loop_wait::polling);
  manual::manual_event waited;
  waited.complete();
  for (int i = 0; i < 4; ++i) loop.run(wait_for(waited));
  const tune::testing::allocation_counter counted;
  for (int i = 0; i < 100; ++i) loop.run(wait_for(waited));
  CHECK(counted.count() == 0);
}

LIBTUNE_DEVICE_TEST_CASE("a polling loop waits for a device", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::event_loop loop(tune::loop_wait::polling);
  const auto frame = [](tune::command_queue on) -> tune::task<> {
    co_await tune::wait_for_events(on.enqueue_marker());
  };
  for (int i = 0; i < 10; ++i) loop.run(frame(queue));
}

}  // namespace polling_test
