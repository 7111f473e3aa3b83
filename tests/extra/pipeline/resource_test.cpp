// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/resource.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libtune/base/log.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/extra/pipeline/manual_event.hpp"
#include "tests/store/child_process.hpp"

namespace resource_test {

using manual::manual_event;

tune::task<> nothing() { co_return; }

std::exception_ptr failure() { return std::make_exception_ptr(std::runtime_error("broken")); }

TEST_CASE("who acquires first is served first, whoever is ready first") {
  tune::resource<int> resource(42);
  auto first = resource.acquire();
  auto second = resource.acquire();
  tune::event_loop loop;
  std::vector<std::string> log;
  manual_event done;

  const auto later = [](tune::resource_allocation<int> turn,
                        std::vector<std::string>& lines) -> tune::task<> {
    lines.push_back("second starts");
    const int value = co_await turn.wait_events();
    lines.push_back("second has " + std::to_string(value));
    turn.ready();
  };
  const auto earlier = [](tune::resource_allocation<int> turn, manual_event& event,
                          std::vector<std::string>& lines) -> tune::task<> {
    co_await turn.wait();
    lines.push_back("first has " + std::to_string(turn.value()));
    turn.ready({event.handle()});
  };
  const auto second_done = loop.spawn(later(std::move(second), log));
  const auto first_done = loop.spawn(earlier(std::move(first), done, log));
  loop.run_until(first_done);
  CHECK_FALSE(second_done.is_ready());
  CHECK(log == std::vector<std::string>{"second starts", "first has 42"});
  done.complete();
  loop.run_until(second_done);
  CHECK(log.back() == "second has 42");
}

TEST_CASE("the events of a holder are given to the next alone") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  auto second = resource.acquire();
  auto third = resource.acquire();
  manual_event event;
  CHECK(first.wait().get().empty());
  first.ready({event.handle()});
  CHECK(second.wait().get().size() == 1);
  second.ready();
  CHECK(third.wait().get().empty());
  third.ready();
}

TEST_CASE("an error is passed to the next holder, and no further") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  auto second = resource.acquire();
  auto third = resource.acquire();
  first.wait().get();
  first.fail(failure());
  CHECK_THROWS_WITH_AS(second.wait().get(), "broken", std::runtime_error);
  second.ready();
  CHECK_NOTHROW(third.wait().get());
  third.ready();
}

TEST_CASE("a turn that is given up early lets nobody pass those before it") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  std::optional<tune::resource_allocation<int>> second = resource.acquire();
  auto third = resource.acquire();
  manual_event event;
  second.reset();
  const auto turn = third.wait();
  CHECK_FALSE(turn.is_ready());

  SUBCASE("and passes on the events that the next has to wait for") {
    first.wait().get();
    first.ready({event.handle()});
    CHECK(turn.get().size() == 1);
  }
  SUBCASE("and the error") {
    first.fail(failure());
    CHECK_THROWS_AS(turn.get(), std::runtime_error);
  }
  third.ready();
}

TEST_CASE("a turn that is given up while it waits passes on the events of the one before") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  std::optional<tune::resource_allocation<int>> second = resource.acquire();
  auto third = resource.acquire();
  const manual_event event;
  const auto no_time = std::chrono::steady_clock::time_point::min();
  const auto turn = second->wait();

  SUBCASE("after a deadline, by its destructor") {
    CHECK_THROWS_AS(turn.get_until(no_time), tune::deadline_error);
    second.reset();
    first.ready({event.handle()});
  }
  SUBCASE("after the one before has ended, which it did not see any more") {
    CHECK_FALSE(turn.wait_until(no_time));
    first.ready({event.handle()});
    second.reset();
  }
  SUBCASE("by ready()") {
    CHECK_FALSE(turn.wait_until(no_time));
    first.ready({event.handle()});
    second->ready();
  }
  SUBCASE("though it had come, as what came before may still run") {
    first.ready({event.handle()});
    CHECK(turn.get().size() == 1);
    second.reset();
  }
  CHECK(third.wait().get().size() == 1);
  third.ready();
}

TEST_CASE("a task that is cancelled while it waits for a resource passes on events") {
  tune::event_loop loop;
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  const auto waits = [](tune::resource_allocation<int> turn) -> tune::task<> {
    co_await turn.wait_events();
    turn.ready();
  };
  const auto second = loop.spawn(waits(resource.acquire()));
  auto third = resource.acquire();
  manual_event event;

  SUBCASE("for the turn") {}
  SUBCASE("for the device") { first.ready({event.handle()}); }
  loop.run(nothing());  // after which the other waits
  second.cancel();
  loop.run_until(second);
  CHECK(second.is_cancelled());
  if (!first.is_released()) first.ready({event.handle()});
  CHECK(third.wait().get().size() == 1);
  third.ready();
  event.complete();
}

TEST_CASE("who handles the error of the holder before is ordered behind those before it") {
  tune::event_loop loop;
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  auto second = resource.acquire();
  auto third = resource.acquire();
  auto fourth = resource.acquire();
  manual_event event;
  first.ready({event.handle()});
  CHECK(second.wait().get().size() == 1);
  second.fail(failure());
  const auto handles = [](tune::resource_allocation<int> turn, bool& has_failed) -> tune::task<> {
    try {
      co_await turn.wait_events();
    } catch (const std::runtime_error&) {
      has_failed = true;
    }
    turn.ready();
  };
  bool has_failed = false;
  const auto handled = loop.spawn(handles(std::move(third), has_failed));
  loop.run(nothing());  // after which the other waits
  CHECK_FALSE(has_failed);
  event.complete();
  loop.run_until(handled);
  CHECK(has_failed);
  CHECK_NOTHROW(fourth.wait().get());
  fourth.ready();
}

TEST_CASE("a long line of turns that were dropped ends with the holder before it") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  for (int i = 0; i < 100000; ++i) resource.acquire();
  auto last = resource.acquire();
  first.ready();
  CHECK(last.wait().is_ready());
  last.ready();
}

TEST_CASE("a holder that leaves by an exception passes abandoned_error on") {
  tune::resource<int> resource(0);
  std::optional<tune::resource_allocation<int>> next;
  try {
    auto first = resource.acquire();
    next.emplace(resource.acquire());
    first.wait().get();
    throw std::runtime_error("left");
  } catch (const std::runtime_error&) {
  }
  CHECK_THROWS_AS(next->wait().get(), tune::abandoned_error);
  next->ready();
}

TEST_CASE("a turn that was waited for and ends without ready() warns, and is passed on") {
  // In a child, because the log of a process is redirected for good.
  const int warnings = tune::testing::in_child([] {
    int seen = 0;
    tune::detail::redirect_log([&](tune::log_level level, std::string_view text) {
      if (level == tune::log_level::warning && text.find("without ready()") != text.npos) ++seen;
    });
    tune::resource<int> resource(0);
    { const auto not_waited_for = resource.acquire(); }
    {
      auto first = resource.acquire();
      first.wait().get();
    }
    auto next = resource.acquire();
    if (!next.wait().is_ready()) return 100;
    next.ready();
    return seen;
  });
  CHECK(warnings == 1);
}

TEST_CASE("a turn ends once") {
  tune::resource<int> resource(0);
  auto turn = resource.acquire();
  CHECK_FALSE(turn.is_released());
  turn.ready();
  CHECK(turn.is_released());
  CHECK_THROWS_AS(turn.ready(), tune::argument_error);
  CHECK_THROWS_AS(turn.fail(failure()), tune::argument_error);
  CHECK_THROWS_AS(turn.wait(), tune::argument_error);
}

TEST_CASE("a wait that is cancelled or times out leaves the turn of the holder alone") {
  tune::resource<int> resource(0);
  auto first = resource.acquire();
  auto second = resource.acquire();
  const auto turn = second.wait();
  CHECK_FALSE(turn.cancel());
  CHECK_THROWS_AS(turn.get_until(std::chrono::steady_clock::now()), tune::deadline_error);
  first.ready();
  CHECK_NOTHROW(turn.get());
  second.ready();
}

TEST_CASE("threads that block take turns in the order of asking") {
  tune::resource<std::vector<int>> resource({});
  std::vector<tune::resource_allocation<std::vector<int>>> turns;
  for (int i = 0; i < 8; ++i) turns.push_back(resource.acquire());
  std::vector<std::thread> threads;
  for (int i = 7; i >= 0; --i) {
    threads.emplace_back([&, i] {
      turns[i].wait().get();
      turns[i].value().push_back(i);
      turns[i].ready();
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto last = resource.acquire();
  last.wait().get();
  CHECK(last.value() == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  last.ready();
}

TEST_CASE("an error of a use is thrown, and met by the next holder") {
  tune::event_loop loop;
  tune::resource<int> resource(1);
  const tune::testing::fake_device fake;
  const tune::command_queue queue = fake.device().create_context().create_command_queue();
  const auto broken =
      loop.spawn(resource.use(queue, [](int&) { throw std::runtime_error("broken"); }));
  auto next = resource.acquire();
  loop.run_until(broken);
  CHECK_THROWS_AS(broken.get(), std::runtime_error);
  CHECK_THROWS_WITH_AS(next.wait().get(), "broken", std::runtime_error);
  next.ready();
}

LIBTUNE_DEVICE_TEST_CASE("stages on two queues share a buffer in turn, without allocating",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue fill_queue = context.create_command_queue();
  tune::command_queue read_queue = context.create_command_queue();
  tune::resource<tune::buffer> resource(context.create_buffer(4096));
  tune::event_loop loop;
  std::vector<unsigned char> host(4096);

  const auto frame = [&](unsigned char value) {
    const auto filled = loop.spawn(resource.use(fill_queue, [&, value](tune::buffer& buffer) {
      fill_queue.fill(buffer, 4096, std::as_bytes(std::span(&value, 1)));
    }));
    const auto read = loop.spawn(resource.use(read_queue, [&](tune::buffer& buffer) {
      read_queue.read(buffer, host.data(), 4096, 0, false);
    }));
    loop.run_until(read);
    filled.get();
    read.get();
    read_queue.finish();
  };
  for (unsigned char value = 1; value < 5; ++value) {
    const std::vector<unsigned char> filled(4096, value);
    const tune::testing::allocation_counter counter;
    frame(value);
    const auto allocations = counter.count();
    CHECK(host == filled);
    if (value > 2) CHECK(allocations == 0);
  }
}

}  // namespace resource_test
