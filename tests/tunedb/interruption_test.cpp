// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/interruption.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <initializer_list>

namespace interruption_test {

using tune::cli::interruption;

TEST_CASE("a signal is noted once, and the second is for the system again") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const interruption watched;
    CHECK_FALSE(interruption::has_come());
    ::raise(signal);
    CHECK(interruption::has_come());
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    CHECK((now.sa_handler == SIG_DFL));
  }
}

TEST_CASE("afterwards signals do what they did before") {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(SIGINT, &ignored, &before);
  { const interruption watched; }
  struct sigaction now {};
  ::sigaction(SIGINT, &before, &now);
  CHECK((now.sa_handler == SIG_IGN));
}

}  // namespace interruption_test
