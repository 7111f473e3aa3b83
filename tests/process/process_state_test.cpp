// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/process/process_state.hpp"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/resource.h>

#include "libtune/base/seal.hpp"

namespace process_state_test {

using tune::detail::process_state;

void own_handler(int) {}

std::string change_since(const process_state& before) {
  return process_state().change_since(before).value_or("nothing");
}

TEST_CASE("a process that nothing was done to has not changed") {
  const process_state before;
  CHECK(change_since(before) == "nothing");
}

TEST_CASE("a lower limit is a change, a higher one is none") {
  const process_state before;
  const rlimit files_before = [] {
    rlimit found{};
    ::getrlimit(RLIMIT_NOFILE, &found);
    return found;
  }();
  rlimit fewer = files_before;
  fewer.rlim_cur -= 1;
  ::setrlimit(RLIMIT_NOFILE, &fewer);
  CHECK(change_since(before).starts_with("it lowered the limit RLIMIT_NOFILE of its process from"));
  const process_state lowered;
  ::setrlimit(RLIMIT_NOFILE, &files_before);
  CHECK(change_since(before) == "nothing");
  CHECK(change_since(lowered) == "nothing");
}

TEST_CASE("another folder, and other signals that are blocked, are changes") {
  const process_state before;
  const auto folder = std::filesystem::current_path();
  std::filesystem::current_path(folder.root_path());
  CHECK(change_since(before) == "it changed the current folder of its process");
  std::filesystem::current_path(folder);
  sigset_t some;
  sigset_t then;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &some, &then);
  CHECK(change_since(before) == "it changed which signals its thread blocks");
  ::pthread_sigmask(SIG_SETMASK, &then, nullptr);
  CHECK(change_since(before) == "nothing");
}

TEST_CASE("a handler of the program is a change, one of a library is a driver's") {
  const process_state before;
  const auto then = ::signal(SIGUSR2, own_handler);
  CHECK(change_since(before) ==
        "it left a handler of signal 12 (User defined signal 2) in its "
        "process");
  ::signal(SIGUSR2, reinterpret_cast<void (*)(int)>(&::srand));
  CHECK(change_since(before) == "nothing");
  ::signal(SIGUSR2, then);
}

TEST_CASE("a seal is a change, its end is none") {
  const process_state before;
  tune::seal({.scope = tune::seal_scope::this_thread});
  const process_state sealed;
  CHECK(change_since(before) == "it sealed its process (tune::seal)");
  tune::unseal(tune::seal_scope::this_thread);
  CHECK(change_since(sealed) == "nothing");
}

}  // namespace process_state_test
