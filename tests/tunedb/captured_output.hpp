// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace tune::testing {

/// What print() writes to standard output, at most 64 KiB. Not thread-safe.
template <class Print>
std::string output_of(Print print) {
  int ends[2];
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) {
    throw std::runtime_error("cannot capture standard output");
  }
  ::close(ends[1]);
  print();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  std::string text;
  char part[4096];
  for (ssize_t count = 0; (count = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  return text;
}

}  // namespace tune::testing
