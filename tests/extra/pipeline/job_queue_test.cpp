// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/job_queue.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/testing/allocation_counter.hpp"

namespace job_queue_test {

std::exception_ptr failure() { return std::make_exception_ptr(std::runtime_error("broken")); }

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

}  // namespace job_queue_test
