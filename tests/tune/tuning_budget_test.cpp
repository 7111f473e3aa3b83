// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuning_budget.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

namespace tuning_budget_test {

using namespace std::chrono_literals;
using tune::budget_from_text;

TEST_CASE("each limit is read with its unit") {
  CHECK(budget_from_text("30 s") == tune::tuning_budget{.time = 30s});
  CHECK(budget_from_text("30s") == tune::tuning_budget{.time = 30s});
  CHECK(budget_from_text("1.5 min") == tune::tuning_budget{.time = 90s});
  CHECK(budget_from_text("2h") == tune::tuning_budget{.time = 2h});
  CHECK(budget_from_text("250 ms") == tune::tuning_budget{.time = 250ms});
  CHECK(budget_from_text("200 trials") == tune::tuning_budget{.trials = 200});
  CHECK(budget_from_text("1 trial") == tune::tuning_budget{.trials = 1});
  CHECK(budget_from_text("target 85 us") == tune::tuning_budget{.target = tune::run_time(85'000)});
}

TEST_CASE("limits are combined in any order") {
  const auto budget = budget_from_text(" target 1 ms , 200 trials,30 s ");
  REQUIRE(budget);
  CHECK(budget->time == 30s);
  CHECK(budget->trials == 200);
  CHECK(budget->target == tune::run_time(1e6));
}

TEST_CASE("what is no budget is refused as a whole") {
  for (const char* text : {"",
                           " ",
                           ",",
                           "30",
                           "s",
                           "30 parsecs",
                           "-1 s",
                           "0 s",
                           "0 trials",
                           "-3 trials",
                           "1.5 trials",
                           "30 s,",
                           "30 s 20 trials",
                           "30 s, 40 s",
                           "5 trials, 6 trials",
                           "target",
                           "target 5",
                           "target 5 trials",
                           "target 0 us",
                           "nan s",
                           "inf s",
                           "1e300 s",
                           "30 s, nonsense"}) {
    CAPTURE(text);
    CHECK_FALSE(budget_from_text(text));
  }
}

TEST_CASE("a budget in words can be read again") {
  for (const char* text :
       {"30 s", "200 trials", "target 85 us", "1.5 min, 20 trials, target 2 ms"}) {
    const auto budget = budget_from_text(text);
    REQUIRE(budget);
    CHECK(to_string(*budget) == text);
    CHECK(budget_from_text(to_string(*budget)) == budget);
  }
  CHECK(tune::to_string(tune::tuning_budget{}).empty());
}

}  // namespace tuning_budget_test
