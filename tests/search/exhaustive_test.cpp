// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/exhaustive.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "tests/search/proposals.hpp"
#include "tests/search/sample_spaces.hpp"

TEST_CASE("the exhaustive strategy goes through the space in its order") {
  const auto answer = [](std::size_t) { return 1.0; };
  tune::exhaustive_strategy all(tune::testing::line(4));
  CHECK(tune::testing::proposals(all, answer) == std::vector<std::size_t>{0, 1, 2, 3});
  tune::exhaustive_strategy limited(tune::testing::line(4), {.max_count = 2});
  CHECK(tune::testing::proposals(limited, answer) == std::vector<std::size_t>{0, 1});
}
