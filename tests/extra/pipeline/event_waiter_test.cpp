// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/event_waiter.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/extra/pipeline/manual_event.hpp"
#include "tests/store/child_process.hpp"

namespace event_waiter_test {

using namespace std::chrono_literals;
using manual::manual_event;

TEST_CASE("a list keeps its events in order, few or many") {
  std::vector<manual_event> events(20);
  tune::event_list list;
  CHECK(list.empty());
  for (std::size_t i = 0; i < events.size(); ++i) {
    list.add(events[i].handle());
    REQUIRE(list.size() == i + 1);
    for (std::size_t k = 0; k <= i; ++k) {
      REQUIRE(list.view()[k].impl() == events[k].handle().impl());
    }
  }
  tune::event_list both({events[0].handle(), events[1].handle()});
  both.add(list);
  CHECK(both.size() == 22);
  list.clear();
  CHECK(list.empty());
  list.add(events[3].handle());
  CHECK(list.size() == 1);
}

TEST_CASE("a wait ends when all its events have") {
  tune::event_waiter waiter(1);
  manual_event first;
  manual_event second;
  const auto ended = waiter.wait_for({first.handle(), second.handle()});
  second.complete();
  CHECK_FALSE(ended.is_ready());
  first.complete();
  ended.get();
}

TEST_CASE("a wait for nothing ends") { tune::wait_for_events({}).get(); }

TEST_CASE("the error of an event is the error of the wait") {
  manual_event event;
  const auto ended = tune::wait_for_events({event.handle()});
  event.fail("the device is lost");
  CHECK_THROWS_WITH_AS(ended.get(), "the device is lost", tune::error);
}

TEST_CASE("the events are released before the wait ends") {
  manual_event event;
  const auto ended = tune::wait_for_events({event.handle()});
  event.complete();
  ended.get();
  CHECK(event.handles() == 0);
}

TEST_CASE("with enough threads, a short wait does not stay behind a long one") {
  tune::event_waiter waiter(2);
  manual_event endless;
  manual_event quick;
  const auto slow = waiter.wait_for({endless.handle()});
  const auto fast = waiter.wait_for({quick.handle()});
  quick.complete();
  fast.get();
  CHECK_FALSE(slow.is_ready());
  endless.complete();
  slow.get();
}

TEST_CASE("a cancelled wait ends at once, and the waiter goes on") {
  tune::event_waiter waiter(1);
  manual_event event;
  const auto ended = waiter.wait_for({event.handle()});
  CHECK(ended.cancel());
  CHECK_THROWS_AS(ended.get(), tune::cancelled_error);
  event.complete();
  waiter.wait_for({}).get();
}

TEST_CASE("no wait is left without an end when a waiter ends") {
  tune::future<void> begun;
  tune::future<void> queued;
  manual_event event;
  std::thread completes;
  {
    tune::event_waiter waiter(1);
    begun = waiter.wait_for({event.handle()});
    event.wait_for_waiter();
    queued = waiter.wait_for({});
    completes = std::thread([&] { event.complete(); });  // the destructor waits for it
  }
  completes.join();
  begun.get();
  CHECK(queued.is_ready());
}

TEST_CASE("a forked process, which lacks the threads, is refused") {
  tune::wait_for_events({}).get();
  const int status = tune::testing::in_forked_child([] {
    try {
      tune::wait_for_events({});
    } catch (const tune::forked_process_error&) {
      return 3;
    }
    return 4;
  });
  CHECK(status == 3);
}

TEST_CASE("the end of a waiter in a forked process joins no threads") {
  auto waiter = std::make_unique<tune::event_waiter>(1);
  waiter->wait_for({}).get();
  const int status = tune::testing::in_forked_child([&] {
    waiter.reset();
    return 3;
  });
  CHECK(status == 3);
}

TEST_CASE("a waiter needs a thread") {
  CHECK_THROWS_AS(tune::event_waiter(0), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("events of a device are waited for, under a seal too", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(1 << 20);
  std::vector<char> host(1 << 20, 1);
  tune::wait_for_events({queue.enqueue_marker()}).get();
  tune::seal();
  queue.zero(buffer, host.size());
  queue.read(buffer, host.data(), host.size(), 0, false);
  tune::wait_for_events({queue.enqueue_marker()}).get();
  tune::unseal();
  CHECK(host == std::vector<char>(1 << 20, 0));
}

// What loop_wait::polling changes: the loop asks devices itself, and everything else is as asleep.

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

}  // namespace event_waiter_test
