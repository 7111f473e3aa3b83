// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/strategy_conformance.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/search/strategy/strategies.hpp"

namespace strategy_conformance_test {

void check_listed(std::string_view name) {
  tune::testing::check_strategy_conformance(
      [name](const tune::search_space& space, const tune::strategy_options& options) {
        return tune::make_strategy(name, space, options);
      });
}

constexpr std::string_view checked[] = {"exhaustive", "random", "local", "genetic", "model"};

TEST_CASE("every listed strategy is checked here") {
  const auto names = tune::strategy_names();
  REQUIRE(names.size() == std::size(checked));
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(names[i] == checked[i]);
}

TEST_CASE("the strategy 'exhaustive' conforms") { check_listed("exhaustive"); }
TEST_CASE("the strategy 'random' conforms") { check_listed("random"); }
TEST_CASE("the strategy 'local' conforms") { check_listed("local"); }
TEST_CASE("the strategy 'genetic' conforms") { check_listed("genetic"); }
TEST_CASE("the strategy 'model' conforms") { check_listed("model"); }

}  // namespace strategy_conformance_test
