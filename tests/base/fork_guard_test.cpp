// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/fork_guard.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fork_guard_test {

using tune::detail::fork_guard;

/// What a child returns from main, as it were.
template <class Child>
int status_of_child(Child child) {
  const ::pid_t id = ::fork();
  if (id == 0) ::_exit(child());
  int status = -1;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a fork waits until no thread is in a guarded section") {
  std::atomic<bool> inside{false};
  const std::jthread worker([&] {
    const fork_guard section;
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    inside = false;
  });
  while (!inside) std::this_thread::yield();
  CHECK(status_of_child([&] { return inside ? 1 : 0; }) == 0);
}

TEST_CASE("a child, and a child of that, have guarded sections too") {
  const int status = status_of_child([] {
    { const fork_guard section; }
    return status_of_child([] {
      const fork_guard section;
      return 7;
    });
  });
  CHECK(status == 7);
}

TEST_CASE("sections may be nested while somebody wants to fork") {
  std::atomic<bool> inside{false};
  std::atomic<bool> nested{false};
  const std::jthread worker([&] {
    const fork_guard outer;
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // meanwhile the fork begins
    const fork_guard inner;
    nested = true;
  });
  while (!inside) std::this_thread::yield();
  CHECK(status_of_child([&] { return nested ? 0 : 1; }) == 0);
}

}  // namespace fork_guard_test
