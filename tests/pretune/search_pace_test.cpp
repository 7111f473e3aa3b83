// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/pretune/search_pace.hpp"

#include <chrono>
#include <doctest/doctest.h>

using namespace std::chrono_literals;

TEST_CASE("the pace of a search counts from its first trial, and takes some trials to be known") {
  const tune::search_pace::clock::time_point begin{};
  tune::search_pace pace;
  CHECK_FALSE(pace.expect(100, begin));
  CHECK_FALSE(pace.expect(100, begin + 50s));  // the first program takes long
  CHECK_FALSE(pace.expect(98, begin + 60s));
  CHECK_FALSE(pace.expect(91, begin + 67s));
  CHECK(pace.expect(88, begin + 70s) == 88s);
  CHECK(pace.expect(88, begin + 80s) == 176s);
  CHECK(pace.expect(8, begin + 105s) == 4s);
  CHECK(pace.expect(0, begin + 110s) == 0s);
}
