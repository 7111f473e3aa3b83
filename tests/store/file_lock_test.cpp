// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_lock.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/store/temporary_folder.hpp"

namespace file_lock_test {

using namespace std::chrono_literals;
using tune::detail::file_descriptor;
using tune::detail::file_lock;
using tune::detail::lock_attempt;
using tune::detail::lock_kind;
using tune::testing::temporary_folder;

file_lock open_lock(const temporary_folder& folder, int mode = O_RDWR) {
  return file_lock(
      file_descriptor(::open(folder.file("lock").c_str(), mode | O_CREAT | O_CLOEXEC, 0600)));
}

TEST_CASE("one at a time has the lock, through a file that is open for reading too") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  file_lock second = open_lock(folder, O_RDONLY);
  CHECK(first.try_take() == lock_attempt::taken);
  CHECK(first.is_taken());
  CHECK(second.try_take() == lock_attempt::busy);
  CHECK_FALSE(second.is_taken());
  first.release();
  CHECK(second.try_take() == lock_attempt::taken);
  CHECK(first.try_take() == lock_attempt::busy);
  second = file_lock();
  CHECK(first.try_take() == lock_attempt::taken);
}

TEST_CASE("a lock that was moved is still held, once") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  REQUIRE(first.try_take() == lock_attempt::taken);
  {
    const file_lock owner = std::move(first);
    CHECK(open_lock(folder).try_take() == lock_attempt::busy);
  }
  CHECK(open_lock(folder).try_take() == lock_attempt::taken);
}

TEST_CASE("where there is no file or no name any more, an attempt says so") {
  const temporary_folder folder;
  CHECK(file_lock().try_take() == lock_attempt::impossible);
  file_lock lock = open_lock(folder);
  std::filesystem::remove(folder.file("lock"));
  CHECK(lock.try_take() == lock_attempt::removed);
  CHECK_FALSE(lock.is_taken());
}

TEST_CASE("several share a lock, and one that wants it alone waits for all of them") {
  const temporary_folder folder;
  file_lock first = open_lock(folder);
  file_lock second = open_lock(folder);
  file_lock alone = open_lock(folder);
  CHECK(first.take(0ms, lock_kind::shared));
  CHECK(second.take(0ms, lock_kind::shared));
  CHECK_FALSE(alone.take(2ms));
  first.release();
  CHECK_FALSE(alone.take(0ms));
  second.release();
  CHECK(alone.take(0ms));
  CHECK_FALSE(first.take(2ms, lock_kind::shared));
  CHECK(file_lock().take(0ms));  // where there is no file nobody is kept out
}

TEST_CASE("threads that wait for a lock have it one after the other") {
  const temporary_folder folder;
  std::atomic<int> inside{0};
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      file_lock lock = open_lock(folder);
      if (!lock.take(60s) || ++inside != 1) ++faults;
      std::this_thread::yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
}

TEST_CASE("the copy that a child has releases nothing and keeps nothing") {
  const temporary_folder folder;
  std::array<int, 2> ended{};
  std::array<int, 2> end{};
  REQUIRE(::pipe(ended.data()) == 0);
  REQUIRE(::pipe(end.data()) == 0);
  file_lock lock = open_lock(folder);
  REQUIRE(lock.try_take() == lock_attempt::taken);
  char ignored = 0;
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::close(end[1]);
    lock.release();
    static_cast<void>(!::write(ended[1], "", 1));
    ::_exit(static_cast<int>(::read(end[0], &ignored, 1)));  // until the parent closes its end
  }
  REQUIRE(::read(ended[0], &ignored, 1) == 1);
  CHECK(open_lock(folder).try_take() == lock_attempt::busy);
  lock = file_lock();
  CHECK(open_lock(folder).try_take() == lock_attempt::taken);
  for (const int each : {ended[0], ended[1], end[0], end[1]}) ::close(each);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("the lock of a process that was killed is free") {
  const temporary_folder folder;
  const ::pid_t child = ::fork();
  if (child == 0) {
    file_lock held = open_lock(folder);
    ::_exit(held.take(0ms) ? ::kill(::getpid(), SIGKILL) : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(open_lock(folder).take(0ms));
}

TEST_CASE("trying goes on until it works or the wait is over") {
  using tune::detail::keep_trying;
  int attempts = 0;
  const auto third_time = [&] { return ++attempts == 3; };
  CHECK(keep_trying(60s, third_time));
  CHECK(attempts == 3);
  attempts = 0;
  const auto never = [&] {
    ++attempts;
    return false;
  };
  CHECK_FALSE(keep_trying(0ms, never));
  CHECK_FALSE(keep_trying(-5ms, never));
  CHECK(attempts == 2);
  CHECK_FALSE(keep_trying(3ms, never));
  CHECK(attempts > 3);
}

}  // namespace file_lock_test
