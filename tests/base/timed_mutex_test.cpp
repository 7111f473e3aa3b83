// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/timed_mutex.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace timed_mutex_test {

using tune::detail::timed_mutex;

TEST_CASE("a locked timed_mutex is not locked again within the wait, and is after its unlock") {
  timed_mutex mutex;
  mutex.lock();
  CHECK_FALSE(mutex.try_lock_for(std::chrono::nanoseconds(0)));
  CHECK_FALSE(mutex.try_lock_for(std::chrono::milliseconds(1)));
  mutex.unlock();
  CHECK(mutex.try_lock_for(std::chrono::nanoseconds(0)));
  CHECK_FALSE(mutex.try_lock_for(std::chrono::nanoseconds(0)));
}

TEST_CASE("another thread may unlock a timed_mutex for those that wait") {
  timed_mutex mutex;
  mutex.lock();
  std::thread other([&] { mutex.unlock(); });
  CHECK(mutex.try_lock_for(std::chrono::minutes(1)));
  other.join();
}

TEST_CASE("one thread at a time holds a timed_mutex") {
  timed_mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const std::lock_guard lock(mutex);
        ++count;
      }
      for (int round = 0; round < 500; ++round) {
        while (!mutex.try_lock_for(std::chrono::milliseconds(1))) {
        }
        ++count;
        mutex.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 4000);
}

}  // namespace timed_mutex_test
