// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"

namespace fake_clock_test {

using std::chrono::nanoseconds;
using tune::testing::fake_clock;

TEST_CASE("the clock moves when it is told to, and only then") {
  fake_clock clock;
  const auto start = clock.now();
  CHECK(clock.now() == start);
  CHECK(clock.advance(nanoseconds{5}) == start);
  CHECK(clock.now() - start == nanoseconds{5});
}

TEST_CASE("the clock never goes back") {
  fake_clock clock;
  clock.advance(nanoseconds{5});
  const auto before = clock.now();
  CHECK(clock.advance(nanoseconds{-3}) == before);
  CHECK(clock.advance(nanoseconds{0}) == before);
  CHECK(clock.now() == before);
}

}  // namespace fake_clock_test
