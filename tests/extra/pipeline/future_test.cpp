// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/future.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/job_queue.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace future_test {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::exception_ptr failure() { return std::make_exception_ptr(std::runtime_error("broken")); }

TEST_CASE("a future has the result that its promise was given, for all that ask") {
  tune::promise<std::string> promise;
  const tune::future<std::string> first = promise.get_future();
  const tune::future<std::string> second = first;
  CHECK_FALSE(first.is_ready());
  CHECK(promise.set("done"));
  CHECK(first.get() == "done");
  CHECK(second.get() == "done");
  CHECK(&first.get() == &second.get());
}

TEST_CASE("the first end of a future is the only one") {
  tune::promise<int> promise;
  const auto future = promise.get_future();
  CHECK(promise.set(1));
  CHECK_FALSE(promise.set(2));
  CHECK_FALSE(promise.fail(failure()));
  CHECK_FALSE(future.cancel());
  CHECK(future.get() == 1);
}

TEST_CASE("an error is thrown at each get") {
  tune::promise<void> promise;
  const auto future = promise.get_future();
  promise.fail(failure());
  CHECK(future.is_ready());
  CHECK_THROWS_WITH_AS(future.get(), "broken", std::runtime_error);
  CHECK_THROWS_WITH_AS(future.get(), "broken", std::runtime_error);
}

TEST_CASE("a promise that ends without a result cancels its future") {
  tune::future<int> future;
  CHECK_FALSE(future.valid());
  {
    tune::promise<int> promise;
    future = promise.get_future();
  }
  CHECK(future.is_cancelled());
  CHECK_THROWS_AS(future.get(), tune::cancelled_error);
}

TEST_CASE("threads that block get the result of another thread") {
  tune::promise<int> promise;
  const auto future = promise.get_future();
  std::vector<int> results(4);
  std::vector<std::thread> threads;
  for (int& result : results) threads.emplace_back([&] { result = future.get(); });
  promise.set(7);
  for (std::thread& thread : threads) thread.join();
  CHECK(results == std::vector<int>(4, 7));
}

TEST_CASE("a deadline is an absolute time") {
  tune::promise<int> promise;
  const auto future = promise.get_future();

  SUBCASE("a result that is there needs no time") {
    promise.set(3);
    CHECK(future.get_until(clock::now() - 1h) == 3);
  }
  SUBCASE("an error that is there is thrown") {
    promise.fail(failure());
    CHECK_THROWS_AS(future.get_until(clock::now() - 1h), std::runtime_error);
  }
  SUBCASE("a result that comes before is waited for") {
    std::thread other([&] { promise.set(4); });
    CHECK(future.get_until(clock::now() + 1h) == 4);
    other.join();
  }
  SUBCASE("when it passes, the future is cancelled") {
    CHECK_THROWS_AS(future.get_until(clock::now() + 1ms), tune::deadline_error);
    CHECK(future.is_cancelled());
    CHECK_FALSE(promise.set(5));
  }
  SUBCASE("a shielded future survives it") {
    CHECK_THROWS_AS(tune::shield(future).get_until(clock::now() + 1ms), tune::deadline_error);
    CHECK_FALSE(future.is_ready());
    promise.set(6);
    CHECK(future.get() == 6);
  }
  SUBCASE("a wait alone cancels nothing") {
    CHECK_FALSE(future.wait_until(clock::now() + 1ms));
    CHECK_FALSE(future.is_ready());
  }
}

TEST_CASE("a shield ends as what it protects") {
  tune::promise<std::string> promise;
  const auto early = tune::shield(promise.get_future());
  SUBCASE("with the result") {
    promise.set("result");
    CHECK(early.get() == "result");
    CHECK(tune::shield(promise.get_future()).get() == "result");
  }
  SUBCASE("with the error") {
    promise.fail(failure());
    CHECK_THROWS_AS(early.get(), std::runtime_error);
  }
  SUBCASE("cancelled") {
    promise.get_future().cancel();
    CHECK(early.is_cancelled());
  }
}

TEST_CASE("the memory of futures is used again") {
  for (int i = 0; i < 2; ++i) {
    const tune::testing::allocation_counter counter;
    for (int k = 0; k < 100; ++k) {
      tune::promise<int> promise;
      const auto shielded = tune::shield(promise.get_future());
      promise.set(k);
      CHECK(shielded.get() == k);
    }
    if (i > 0) CHECK(counter.count() == 0);
  }
}

TEST_CASE("a result is destroyed with the last future") {
  const auto object = std::make_shared<int>(1);
  {
    tune::promise<std::shared_ptr<int>> promise;
    promise.set(object);
    const auto future = promise.get_future();
    CHECK(object.use_count() == 2);
  }
  CHECK(object.use_count() == 1);
}

TEST_CASE("clean removes the jobs that have ended, up to the first that has not") {
  tune::job_queue jobs;
  std::vector<tune::promise<int>> promises(3);
  for (auto& promise : promises) jobs.add(promise.get_future());
  promises[0].set(0);
  promises[2].set(2);
  jobs.clean();
  CHECK(jobs.size() == 2);
  CHECK_FALSE(jobs.contains(promises[0].get_future()));
  CHECK(jobs.contains(promises[1].get_future()));
  CHECK(jobs.contains(promises[2].get_future()));
  promises[1].set(1);
  jobs.clean();
  CHECK(jobs.empty());
}

TEST_CASE("the error of a job is thrown once, and those behind it stay") {
  tune::job_queue jobs;
  std::vector<tune::promise<>> promises(3);
  for (auto& promise : promises) jobs.add(promise.get_future());
  promises[0].set();
  promises[1].fail(failure());
  promises[2].set();
  SUBCASE("by clean") {
    CHECK_THROWS_AS(jobs.clean(), std::runtime_error);
    CHECK(jobs.size() == 1);
    jobs.clean();
  }
  SUBCASE("by finish") {
    tune::event_loop loop;
    CHECK_THROWS_AS(loop.run(jobs.finish()), std::runtime_error);
    CHECK(jobs.size() == 1);
    loop.run(jobs.finish());
  }
  SUBCASE("by a finish that blocks") {
    CHECK_THROWS_AS(jobs.finish_blocking(), std::runtime_error);
    CHECK(jobs.size() == 1);
    jobs.finish_blocking();
  }
  CHECK(jobs.empty());
}

TEST_CASE("finish leaves as many jobs as it was told") {
  tune::job_queue jobs;
  std::vector<tune::promise<>> promises(3);
  for (auto& promise : promises) jobs.add(promise.get_future());
  tune::event_loop loop;
  std::thread other([&] {
    promises[1].set();
    promises[0].set();
  });
  loop.run(jobs.finish(1));
  other.join();
  CHECK(jobs.size() == 1);
  CHECK(jobs.contains(promises[2].get_future()));
  promises[2].set();
  jobs.finish_blocking();
  CHECK(jobs.empty());
}

TEST_CASE("a job that another task has removed does not hide the end of those behind it") {
  tune::job_queue jobs;
  std::vector<tune::promise<>> promises(2);
  for (auto& promise : promises) jobs.add(promise.get_future());
  tune::event_loop loop;
  const auto first = loop.spawn(jobs.finish());
  const auto pass = []() -> tune::task<> { co_return; };

  SUBCASE("by finish") {
    const auto second = loop.spawn(jobs.finish(1));
    loop.run(pass());
    promises[0].set();
    loop.run_until(second);
  }
  SUBCASE("by clean") {
    loop.run(pass());
    promises[0].set();
    jobs.clean();
  }
  loop.run(pass());
  CHECK_FALSE(first.is_ready());
  CHECK(jobs.contains(promises[1].get_future()));
  promises[1].fail(failure());
  loop.run_until(first);
  CHECK_THROWS_AS(first.get(), std::runtime_error);
  CHECK(jobs.empty());
}

TEST_CASE("jobs go through a queue without allocating, in the order of adding") {
  tune::job_queue jobs;
  for (int round = 0; round < 3; ++round) {
    const tune::testing::allocation_counter counter;
    for (int i = 0; i < 100; ++i) {
      tune::promise<int> promise;
      jobs.add(promise.get_future());
      promise.set(i);
      jobs.finish_blocking(3);
    }
    if (round > 0) CHECK(counter.count() == 0);
    CHECK(jobs.size() == 3);
  }
}

}  // namespace future_test
