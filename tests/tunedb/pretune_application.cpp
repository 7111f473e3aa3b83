// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An application for the tests of tunedb pretune: with its autotuners, and with a door for tuners
// unless it is called with --shut.
#include <cstdio>
#include <cstring>

#include "libtune/child/serve_if_worker.hpp"

int main(int count, char** arguments) {
  const bool is_shut = count > 1 && std::strcmp(arguments[1], "--shut") == 0;
  if (!is_shut) tune::serve_if_worker(count, arguments);
  std::puts("the application runs");
}
