// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/search_pace.hpp"

#include <chrono>
#include <doctest/doctest.h>

namespace search_pace_test {

using namespace std::chrono_literals;

TEST_CASE("the pace of a search counts from its first trial, and takes some trials to be known") {
  const tune::search_pace::clock::time_point begin{};
  tune::search_pace pace(begin);
  const auto after = [&](std::chrono::seconds time, std::size_t left) {
    return pace.look(left, begin + time);
  };
  CHECK_FALSE(after(10s, 100));
  CHECK_FALSE(after(50s, 100));  // the first program takes long
  CHECK_FALSE(after(60s, 98));
  CHECK_FALSE(after(67s, 91));
  const auto known = after(70s, 88);
  REQUIRE(known);
  CHECK(known->start == 60s);
  CHECK(known->rest == 88s);
  CHECK(after(80s, 88)->rest == 176s);
  CHECK(after(105s, 8)->rest == 4s);
  CHECK(after(110s, 0)->rest == 0s);
  CHECK(after(110s, 0)->start == 60s);
}

}  // namespace search_pace_test
