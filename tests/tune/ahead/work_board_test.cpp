// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/work_board.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "libtune/testing/fake_device.hpp"

namespace work_board_test {

using tune::led_job;
using tune::work_board;

led_job take_job(work_board& board) {
  auto task = board.next();
  REQUIRE(task);
  REQUIRE(std::holds_alternative<led_job>(*task));
  return std::get<led_job>(*std::move(task));
}

/// A device that waits for parts of others' jobs until there is nothing any more.
std::jthread helper(work_board& board, std::atomic<int>& parts) {
  return std::jthread([&] {
    const tune::testing::fake_device fake;
    while (auto task = board.next()) {
      if (auto* part = std::get_if<led_job::part>(&*task)) {
        (*part)(fake.device());
        ++parts;
      }
    }
  });
}

/// Reserves as soon as somebody waits.
std::size_t reserve_when_there(led_job& job, std::size_t most) {
  while (true) {
    if (const std::size_t count = job.reserve(most)) return count;
    std::this_thread::yield();
  }
}

TEST_CASE("jobs are dealt out in order, and then there is nothing more") {
  work_board board({4, 2});
  CHECK(take_job(board).number() == 4);
  CHECK(take_job(board).number() == 2);
  CHECK_FALSE(board.next());
}

TEST_CASE("nobody helps while there are jobs left") {
  work_board board({0, 1});
  led_job job = take_job(board);
  CHECK(job.reserve(3) == 0);
}

TEST_CASE("who has nothing to do takes parts of a job until it has been done") {
  work_board board({0});
  std::atomic<int> parts = 0;
  std::jthread waiting;
  {
    led_job job = take_job(board);
    waiting = helper(board, parts);
    const std::size_t reserved = reserve_when_there(job, 5);
    CHECK(reserved == 1);
    CHECK_MESSAGE(job.reserve(5) == 0, "it is promised already");
    std::latch done(1);
    std::vector<led_job::part> help;
    help.emplace_back([&](const tune::device&) { done.count_down(); });
    job.help(std::move(help), reserved);
    done.wait();
  }
  waiting.join();
  CHECK(parts == 1);
}

TEST_CASE("who was reserved in vain is free again") {
  work_board board({0});
  std::atomic<int> parts = 0;
  std::jthread waiting;
  {
    led_job job = take_job(board);
    waiting = helper(board, parts);
    job.help({}, reserve_when_there(job, 1));
    CHECK(reserve_when_there(job, 1) == 1);
    job.help({}, 1);
  }
  waiting.join();
  CHECK(parts == 0);
}

TEST_CASE("several jobs share out who has nothing to do, but for those that want no help") {
  work_board board({0, 1});
  std::atomic<int> parts = 0;
  std::vector<std::jthread> waiting;
  {
    led_job first = take_job(board);
    led_job second = take_job(board);
    CHECK(first.reserve(4) == 0);
    waiting.push_back(helper(board, parts));
    waiting.push_back(helper(board, parts));
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
  CHECK(parts == 0);
}

}  // namespace work_board_test
