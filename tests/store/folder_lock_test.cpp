// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/folder_lock.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "tests/store/temporary_folder.hpp"

namespace folder_lock_test {

using namespace std::chrono_literals;
using tune::detail::folder_lock;
using tune::detail::private_folder;
using tune::testing::temporary_folder;

TEST_CASE("one at a time has the lock, and it ends with its holder") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  REQUIRE(folder);
  {
    const folder_lock first(*folder, 0ms);
    CHECK(first);
    CHECK_FALSE(folder_lock(*folder, 0ms));
    CHECK_FALSE(folder_lock(*folder, 3ms));
  }
  CHECK(folder_lock(*folder, 0ms));
  CHECK(std::filesystem::is_empty(place.path() / folder_lock::file_name));
}

TEST_CASE("the lock of a process that was killed is free") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  const pid_t child = ::fork();
  if (child == 0) {
    const folder_lock held(*folder, 0ms);
    ::kill(::getpid(), SIGKILL);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(folder_lock(*folder, 0ms));
}

TEST_CASE("threads that wait for the lock have it one after the other") {
  const temporary_folder place;
  const auto folder = private_folder::open(place.path().string());
  std::atomic<int> inside{0};
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const folder_lock lock(*folder, 60s);
      if (!lock || ++inside != 1) ++faults;
      std::this_thread::yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
}

}  // namespace folder_lock_test
