// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategies.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "tests/search/sample_spaces.hpp"

namespace strategies_test {

using tune::choose_search;
using tune::search_limit;

TEST_CASE("every listed name makes a strategy for the space with the options") {
  const auto space = tune::testing::line(9);
  for (const std::string_view name : tune::strategy_names()) {
    CAPTURE(std::string(name));
    const auto made = tune::make_strategy(name, space, {.max_count = 1});
    CHECK(made->space().size() == 9);
    CHECK(made->ask());
    CHECK_FALSE(made->ask());
  }
}

TEST_CASE("an unknown name is an error that lists the known ones") {
  CHECK_THROWS_WITH_AS(
      tune::make_strategy("annealing", tune::testing::line(1)),
      "there is no search strategy 'annealing'; the strategies are exhaustive, random, local, "
      "genetic, model",
      tune::argument_error);
}

TEST_CASE("small spaces are searched as a whole") {
  for (const std::size_t size : {0, 1, 6, 64}) {
    CHECK(choose_search(size, search_limit::none).strategy == "exhaustive");
    CHECK(choose_search(size, search_limit::given).strategy == "exhaustive");
    CHECK(choose_search(size, search_limit::none).most == size);
  }
}

TEST_CASE("in larger ones the effort grows with the square root, and never beyond the space") {
  CHECK(choose_search(65, search_limit::none).most == 64);
  CHECK(choose_search(225, search_limit::none).most == 90);
  CHECK(choose_search(1'000'000, search_limit::none).most == 6000);
  for (std::size_t size = 65; size < 3000; ++size) {
    const auto chosen = choose_search(size, search_limit::none);
    REQUIRE(chosen.most <= size);
    REQUIRE(chosen.most >= 64);
  }
}

TEST_CASE("where somebody else says when to end there is no limit of ours") {
  CHECK(choose_search(5000, search_limit::given).most == 5000);
}

TEST_CASE("what is chosen can be made") {
  const auto names = tune::strategy_names();
  for (const std::size_t size : {10, 1000}) {
    const auto chosen = choose_search(size, search_limit::none);
    CHECK(std::ranges::find(names, chosen.strategy) != names.end());
  }
}

}  // namespace strategies_test
