// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tune::testing {

/// Calls a function in a child made by fork. It must not use doctest.
/// @returns what the function returned, from 0 to 255; -1 if the child was killed, also after a
///          minute
template <class Function>
int in_child(Function function) {
  const ::pid_t id = ::fork();
  if (id == 0) {
    ::alarm(60);
    ::_exit(static_cast<int>(function()));
  }
  REQUIRE(id > 0);
  int status = -1;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace tune::testing
