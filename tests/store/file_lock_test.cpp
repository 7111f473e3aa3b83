// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_lock.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>

#include "tests/store/child_process.hpp"
#include "tests/store/temporary_folder.hpp"

namespace file_lock_test {

using namespace std::chrono_literals;
using tune::detail::file_descriptor;
using tune::detail::file_lock;
using tune::detail::lock_attempt;
using tune::testing::in_child;
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

TEST_CASE("the copy that a child has releases nothing") {
  const temporary_folder folder;
  file_lock lock = open_lock(folder);
  REQUIRE(lock.try_take() == lock_attempt::taken);
  const ::pid_t child = ::fork();
  if (child == 0) {
    lock.release();
    lock = file_lock();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(open_lock(folder).try_take() == lock_attempt::busy);
}

TEST_CASE("the copy that a child has keeps nothing") {
  const temporary_folder folder;
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  file_lock lock = open_lock(folder);
  REQUIRE(lock.try_take() == lock_attempt::taken);
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[1]);
    char ignored = 0;
    ::_exit(static_cast<int>(::read(pipe[0], &ignored, 1)));  // until the parent closes its end
  }
  lock = file_lock();
  CHECK(open_lock(folder).try_take() == lock_attempt::taken);
  ::close(pipe[0]);
  ::close(pipe[1]);
  ::waitpid(child, nullptr, 0);
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
