// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/shortlist.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/search/proposals.hpp"
#include "tests/search/sample_spaces.hpp"

namespace shortlist_test {

using tune::shortlist_strategy;
using indexes = std::vector<std::size_t>;

indexes proposals(const indexes& listed) {
  shortlist_strategy strategy(tune::testing::line(9), listed);
  return tune::testing::proposals(strategy, [](std::size_t) { return 1.0; });
}

TEST_CASE("what is listed is proposed, in the order given, each once") {
  CHECK(proposals({7, 0, 3}) == indexes{7, 0, 3});
  CHECK(proposals({7, 0, 7, 7, 3, 0}) == indexes{7, 0, 3});
}

TEST_CASE("an empty list ends at once, and the end lasts") {
  CHECK(proposals({}).empty());
  shortlist_strategy strategy(tune::testing::line(9), {1});
  CHECK(strategy.remaining() == 1);
  CHECK(strategy.ask() == 1);
  CHECK_FALSE(strategy.ask());
  CHECK_FALSE(strategy.ask());
}

TEST_CASE("what the space does not have cannot be listed") {
  CHECK_THROWS_AS(shortlist_strategy(tune::testing::line(9), {1, 9}), tune::argument_error);
}

}  // namespace shortlist_test
