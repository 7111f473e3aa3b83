// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuning_budget.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/search_timing.hpp"

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
  CHECK(budget_from_text("within 5 %") == tune::tuning_budget{.within = 0.05});
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
                           "within 5",
                           "within 0 %",
                           "within %",
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

namespace tuning_budget_test::of_search_clock {

using namespace std::chrono_literals;
using tune::run_time;
using tune::search_end;

struct watch {
  explicit watch(const tune::tuning_budget& budget) : clock(budget, now) {}

  tune::testing::fake_clock time;
  tune::wall_clock now = [this] { return time.now(); };
  tune::search_clock clock;
};

constexpr run_time some_time{1000};

TEST_CASE("without limits a search never ends early") {
  watch w({});
  w.time.advance(1000h);
  CHECK_FALSE(w.clock.why_end(1'000'000, some_time, {}));
  CHECK_FALSE(w.clock.is_over(some_time, {}));
  CHECK_FALSE(w.clock.left());
}

TEST_CASE("a tenth of the time is kept for comparing the best") {
  watch w({.time = 10s});
  w.time.advance(8s);
  CHECK_FALSE(w.clock.why_end(5, some_time, {}));
  CHECK(w.clock.left() == 2s);
  w.time.advance(1s);
  CHECK(w.clock.why_end(5, some_time, {}) == search_end::time);
  CHECK_FALSE(w.clock.is_over(some_time, {}));
  w.time.advance(2s);
  CHECK(w.clock.is_over(some_time, {}));
  CHECK(w.clock.left() == 0s);
}

TEST_CASE("time never ends a search that has found nothing yet") {
  watch w({.time = 1s});
  w.time.advance(5s);
  CHECK_FALSE(w.clock.why_end(5, std::nullopt, {}));
  CHECK_FALSE(w.clock.is_over(std::nullopt, {}));
}

TEST_CASE("time ends a search in which nothing works once enough have failed") {
  watch w({.time = 1s});
  w.time.advance(5s);
  constexpr std::size_t failed = tune::search_clock::enough_failed;
  constexpr std::size_t skipped = tune::search_clock::enough_skipped;
  CHECK_FALSE(w.clock.why_end(5, std::nullopt, {.failed = failed - 1}));
  CHECK(w.clock.why_end(5, std::nullopt, {.failed = failed}) == search_end::time);
  CHECK(w.clock.is_over(std::nullopt, {.failed = failed}));
  // A space may begin with many that are over a limit.
  CHECK_FALSE(w.clock.why_end(5, std::nullopt, {.failed = failed + 9, .skipped = 10}));
  CHECK(w.clock.why_end(5, std::nullopt, {.failed = skipped, .skipped = skipped}) ==
        search_end::time);
  watch early({.time = 1s});
  CHECK_FALSE(early.clock.why_end(5, std::nullopt, {.failed = failed}));
}

TEST_CASE("trials end it when so many have begun, whatever they came to") {
  watch w({.trials = 3});
  CHECK_FALSE(w.clock.why_end(2, std::nullopt, {}));
  CHECK(w.clock.why_end(3, std::nullopt, {}) == search_end::trials);
}

TEST_CASE("a target ends it as soon as one is good enough") {
  watch w({.target = run_time(1000)});
  CHECK_FALSE(w.clock.why_end(3, run_time(1001), {}));
  CHECK(w.clock.why_end(3, run_time(1000), {}) == search_end::target);
}

}  // namespace tuning_budget_test::of_search_clock
