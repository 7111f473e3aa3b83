// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/event_waiter.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

#include "libtune/base/seal.hpp"
#include "libtune/device/context.hpp"
#include "libtune/testing/devices.hpp"
#include "tests/extra/pipeline/manual_event.hpp"
#include "tests/store/child_process.hpp"

namespace event_waiter_test {

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

}  // namespace event_waiter_test
