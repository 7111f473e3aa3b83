// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/base/forked_process.hpp"

// Asked by the leak sanitizer: a forked process leaves on purpose what it cannot end.
extern "C" int __lsan_is_turned_off();
extern "C" [[gnu::weak, gnu::used]] int __lsan_is_turned_off() { return tune::detail::is_forked(); }

namespace tune::testing {

/// As fork, but the child may use libtune. No other thread uses it now, and this process has no
/// named_lock: the child would take it for its own.
inline ::pid_t fork_for_use() {
  const ::pid_t id = ::fork();
  if (id == 0) detail::forked = false;
  return id;
}

/// @returns the exit status of a child; -1 if it was killed
inline int exit_status_of(::pid_t child) {
  REQUIRE(child > 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Calls a function in a child made by fork, which then ends by exit. It must not use doctest.
/// @returns what the function returned, from 0 to 255; -1 if the child was killed, also after a
///          minute
template <class Function>
int in_forked_child(Function function) {
  std::fflush(nullptr);  // so that the child has nothing of ours to write
  const ::pid_t id = ::fork();
  if (id == 0) {
    ::alarm(60);
    std::exit(static_cast<int>(function()));
  }
  return exit_status_of(id);
}

/// Calls a function in a child that may use libtune. It must not use doctest.
/// @returns what the function returned, from 0 to 255; -1 if the child was killed, also after a
///          minute
template <class Function>
int in_child(Function function) {
  const ::pid_t id = fork_for_use();
  if (id == 0) {
    ::alarm(60);
    ::_exit(static_cast<int>(function()));
  }
  return exit_status_of(id);
}

}  // namespace tune::testing
