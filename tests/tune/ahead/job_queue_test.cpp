// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/job_queue.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "libtune/testing/fake_device.hpp"

namespace job_queue_test {

using tune::job_queue;
using tune::led_job;

led_job take_job(job_queue& queue) {
  auto task = queue.next();
  REQUIRE(task);
  REQUIRE(std::holds_alternative<led_job>(*task));
  return std::get<led_job>(*std::move(task));
}

/// A device that waits for shards of others' jobs until there will be no more.
std::jthread helper(job_queue& queue, std::atomic<int>& shards) {
  return std::jthread([&] {
    const tune::testing::fake_device fake;
    while (auto task = queue.next()) {
      if (auto* shard = std::get_if<led_job::shard>(&*task)) {
        (*shard)(fake.device());
        ++shards;
      }
    }
  });
}

/// Reserves as soon as a device waits.
std::size_t reserve_when_there(led_job& job, std::size_t most) {
  while (true) {
    if (const std::size_t count = job.reserve(most)) return count;
    std::this_thread::yield();
  }
}

TEST_CASE("jobs are dealt out in order, and then there is nothing more") {
  job_queue queue({4, 2});
  CHECK(take_job(queue).number() == 4);
  CHECK(take_job(queue).number() == 2);
  CHECK_FALSE(queue.next());
}

TEST_CASE("no device helps while there are jobs left") {
  job_queue queue({0, 1});
  led_job job = take_job(queue);
  CHECK(job.reserve(3) == 0);
}

TEST_CASE("an idle device takes shards of a job until it is done") {
  job_queue queue({0});
  std::atomic<int> shards = 0;
  std::jthread waiting;
  {
    led_job job = take_job(queue);
    waiting = helper(queue, shards);
    const std::size_t reserved = reserve_when_there(job, 5);
    CHECK(reserved == 1);
    CHECK_MESSAGE(job.reserve(5) == 0, "it is promised already");
    std::latch done(1);
    std::vector<led_job::shard> help;
    help.emplace_back([&](const tune::device&) { done.count_down(); });
    job.help(std::move(help), reserved);
    done.wait();
  }
  waiting.join();
  CHECK(shards == 1);
}

TEST_CASE("a device that was reserved without need is idle again") {
  job_queue queue({0});
  std::atomic<int> shards = 0;
  std::jthread waiting;
  {
    led_job job = take_job(queue);
    waiting = helper(queue, shards);
    job.help({}, reserve_when_there(job, 1));
    CHECK(reserve_when_there(job, 1) == 1);
    job.help({}, 1);
  }
  waiting.join();
  CHECK(shards == 0);
}

TEST_CASE("several jobs share the idle devices, except those that have settled") {
  job_queue queue({0, 1});
  std::atomic<int> shards = 0;
  std::vector<std::jthread> waiting;
  {
    led_job first = take_job(queue);
    led_job second = take_job(queue);
    CHECK(first.reserve(4) == 0);
    waiting.push_back(helper(queue, shards));
    waiting.push_back(helper(queue, shards));
    std::size_t of_first = reserve_when_there(first, 1);
    std::size_t of_second = reserve_when_there(second, 4);
    CHECK(of_first == 1);
    CHECK(of_second == 1);
    first.help({}, of_first);
    first.settle();
    CHECK(first.reserve(4) == 0);
    CHECK(reserve_when_there(second, 4) == 1);
    second.help({}, 2);
  }
  waiting.clear();
  CHECK(shards == 0);
}

}  // namespace job_queue_test
