// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/task.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "tests/extra/pipeline/manual_event.hpp"

namespace task_test {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

tune::task<int> sum(tune::future<int> a, tune::future<int> b) {
  const int first = co_await a;
  co_return first + co_await b;
}

tune::task<int> twice(tune::future<int> a) { co_return 2 * co_await sum(a, a); }

tune::task<> note(std::vector<std::string>& log, std::string name, tune::future<> start) {
  log.push_back(name + " begins");
  try {
    co_await start;
    log.push_back(name + " ends");
  } catch (const tune::cancelled_error&) {
    log.push_back(name + " is cancelled");
    throw;
  }
}

TEST_CASE("a task gives its result") {
  tune::event_loop loop;
  tune::promise<int> a;
  tune::promise<int> b;
  a.set(1);
  b.set(2);
  CHECK(loop.run(sum(a.get_future(), b.get_future())) == 3);
  CHECK(loop.run(twice(b.get_future())) == 8);
}

/// A result of which one copy fails, the one after so many.
struct fragile {
  explicit fragile(int& copies) : left(&copies) {}
  fragile(const fragile& other) : left(other.left) {
    if ((*left)-- == 0) throw std::runtime_error("no copy");
  }
  fragile& operator=(const fragile&) = delete;
  int* left;
};

TEST_CASE("a task whose result cannot be copied ends with that error") {
  const auto gives = [](int& copies) -> tune::task<fragile> { co_return fragile(copies); };
  int failed = 0;
  for (int works = 0; works < 8; ++works) {
    CAPTURE(works);
    int copies = works;
    tune::event_loop loop;
    const tune::future<fragile> result = loop.spawn(gives(copies));
    loop.run_until(result);
    if (copies >= 0) {
      CHECK_NOTHROW(result.get());
    } else {
      CHECK_THROWS_WITH_AS(result.get(), "no copy", std::runtime_error);
      ++failed;
    }
  }
  CHECK(failed > 1);
}

TEST_CASE("a task waits for results of other threads") {
  tune::event_loop loop;
  tune::promise<int> a;
  std::thread other([&] { a.set(5); });
  CHECK(loop.run(twice(a.get_future())) == 20);
  other.join();
}

TEST_CASE("an error goes through the tasks that await") {
  tune::event_loop loop;
  tune::promise<int> a;
  a.fail(std::make_exception_ptr(std::runtime_error("broken")));
  CHECK_THROWS_WITH_AS(loop.run(twice(a.get_future())), "broken", std::runtime_error);
}

TEST_CASE("a task begins when the loop runs, in the order of spawning") {
  tune::event_loop loop;
  std::vector<std::string> log;
  tune::promise<> start;
  const auto first = loop.spawn(note(log, "first", start.get_future()));
  const auto second = loop.spawn(note(log, "second", start.get_future()));
  CHECK(log.empty());
  start.set();
  loop.run_until(second);
  CHECK(first.is_ready());
  CHECK(log ==
        std::vector<std::string>{"first begins", "first ends", "second begins", "second ends"});
}

TEST_CASE("a cancelled task meets the error where it waits") {
  tune::event_loop loop;
  std::vector<std::string> log;
  tune::promise<> never;
  const auto job = loop.spawn(note(log, "job", never.get_future()));

  SUBCASE("suspended") {
    tune::promise<> begun;
    const auto other = loop.spawn(note(log, "other", begun.get_future()));
    begun.set();
    loop.run_until(other);
    CHECK(job.cancel());
    CHECK_FALSE(job.is_ready());
    loop.run_until(job);
    CHECK(log.back() == "job is cancelled");
  }
  SUBCASE("not begun") {
    CHECK(job.cancel());
    loop.run_until(job);
  }
  CHECK(job.is_cancelled());
  CHECK_THROWS_AS(job.get(), tune::cancelled_error);
  CHECK_FALSE(job.cancel());
}

TEST_CASE("cancelling a task cancels the future that it awaits, unless that is shielded") {
  tune::event_loop loop;
  std::vector<std::string> log;
  tune::promise<> plain;
  tune::promise<> shielded;
  const auto first = loop.spawn(note(log, "first", plain.get_future()));
  const auto second = loop.spawn(note(log, "second", tune::shield(shielded.get_future())));
  loop.run(note(log, "third", tune::wait_for_events({})));
  first.cancel();
  second.cancel();
  loop.run_until(first);
  loop.run_until(second);
  CHECK(plain.get_future().is_cancelled());
  CHECK_FALSE(shielded.get_future().is_ready());
}

tune::task<std::string> wait_briefly(tune::future<int> awaited, clock::time_point deadline) {
  try {
    co_return std::to_string(co_await tune::wait_until(awaited, deadline));
  } catch (const tune::deadline_error&) {
    co_return "too late";
  }
}

TEST_CASE("a wait has an absolute deadline") {
  tune::event_loop loop;
  tune::promise<int> promise;
  const auto future = promise.get_future();
  SUBCASE("a result that is there needs no time") {
    promise.set(1);
    CHECK(loop.run(wait_briefly(future, clock::now() - 1h)) == "1");
  }
  SUBCASE("a result that comes before is taken") {
    std::thread other([&] { promise.set(2); });
    CHECK(loop.run(wait_briefly(future, clock::now() + 1h)) == "2");
    other.join();
  }
  SUBCASE("an error is thrown") {
    promise.fail(std::make_exception_ptr(std::runtime_error("broken")));
    CHECK_THROWS_AS(loop.run(wait_briefly(future, clock::now() + 1h)), std::runtime_error);
  }
  SUBCASE("when it passes, the future is cancelled") {
    CHECK(loop.run(wait_briefly(future, clock::now() + 1ms)) == "too late");
    CHECK(future.is_cancelled());
  }
  SUBCASE("a shielded future survives it") {
    CHECK(loop.run(wait_briefly(tune::shield(future), clock::now() + 1ms)) == "too late");
    CHECK_FALSE(future.is_ready());
  }
  SUBCASE("several deadlines pass in their order") {
    tune::promise<int> other;
    std::vector<std::string> order;
    const auto wait = [](tune::future<int> f, clock::time_point t, std::string name,
                         std::vector<std::string>& passed) -> tune::task<> {
      co_await wait_briefly(f, t);
      passed.push_back(name);
    };
    const auto now = clock::now();
    const auto late = loop.spawn(wait(future, now + 3ms, "late", order));
    const auto early = loop.spawn(wait(other.get_future(), now + 1ms, "early", order));
    loop.run_until(late);
    CHECK(order == std::vector<std::string>{"early", "late"});
  }
}

TEST_CASE("run goes on until stop, which any thread may call") {
  tune::event_loop loop;
  std::vector<std::string> log;
  tune::promise<> start;
  const auto job = loop.spawn(note(log, "job", start.get_future()));
  std::thread other([&] {
    start.set();
    job.wait();
    loop.stop();
  });
  loop.run();
  other.join();
  CHECK(log.size() == 2);
}

TEST_CASE("a loop that is running is not run again") {
  tune::event_loop loop;
  const auto nested = [](tune::event_loop& running) -> tune::task<> {
    running.stop();
    running.run();
    co_return;
  };
  CHECK_THROWS_AS(loop.run(nested(loop)), tune::argument_error);
}

TEST_CASE("the end of a loop cancels its tasks") {
  std::vector<std::string> log;
  tune::promise<> never;
  tune::future<> begun;
  tune::future<> not_begun;
  {
    tune::event_loop loop;
    begun = loop.spawn(note(log, "begun", never.get_future()));
    loop.run(note(log, "other", tune::wait_for_events({})));
    not_begun = loop.spawn(note(log, "not begun", never.get_future()));
  }
  CHECK(begun.is_cancelled());
  CHECK(not_begun.is_cancelled());
  CHECK(log.back() == "begun is cancelled");
}

tune::task<> wait_for(manual::manual_event& event) {
  co_await tune::wait_for_events(event.handle());
}

tune::task<> await(tune::future<> end) { co_await end; }
tune::task<> complete(std::vector<manual::manual_event>& events) {
  for (auto& event : events) event.complete();
  co_return;
}

TEST_CASE("tasks that wait for events allocate nothing") {
  tune::event_loop loop;
  std::vector<manual::manual_event> events(16);
  {
    // Tasks under way at once leave spare memory: the thread that has told the end of a wait may
    // return its memory after the next wait has begun.
    std::vector<tune::future<>> all;
    all.reserve(events.size());
    for (auto& event : events) all.push_back(loop.spawn(wait_for(event)));
    loop.run(complete(events));  // begins after them
    for (auto& each : all) loop.run(await(each));
  }
  for (auto& event : events) loop.run(wait_for(event));
  const tune::testing::allocation_counter counter;
  for (auto& event : events) loop.run(wait_for(event));
  CHECK(counter.count() == 0);
}

}  // namespace task_test
