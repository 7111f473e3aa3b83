// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategies.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/search/exhaustive.hpp"
#include "libtune/search/random.hpp"
#include "tests/search/sample_spaces.hpp"

namespace strategies_test {

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

TEST_CASE("names lead to the strategies of that name") {
  const auto space = tune::testing::line(1);
  const auto exhaustive = tune::make_strategy("exhaustive", space);
  const auto random = tune::make_strategy("random", space);
  CHECK(dynamic_cast<tune::exhaustive_strategy*>(exhaustive.get()) != nullptr);
  CHECK(dynamic_cast<tune::random_strategy*>(random.get()) != nullptr);
}

TEST_CASE("an unknown name is an error that lists the known ones") {
  CHECK_THROWS_WITH_AS(
      tune::make_strategy("genetics", tune::testing::line(1)),
      "there is no search strategy 'genetics'; the strategies are exhaustive, random, local, "
      "genetic, differential, annealing, model",
      tune::argument_error);
}

}  // namespace strategies_test
