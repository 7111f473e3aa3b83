// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/watchdog.hpp"

#include <doctest/doctest.h>
#include <limits>

namespace watchdog_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::search_step;
using tune::step_kind;
using tune::detail::watchdog;
using tune::detail::watchdog_limits;

constexpr watchdog_limits limits{.floor = 10s, .multiple = 20, .compile_time = 60s};

TEST_CASE("a quick run may take as long as the floor") {
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, {}) == 10s);
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, run_time(1e6)) == 10s);
}

TEST_CASE("a slow run may take a multiple of the best, each of its launches") {
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, run_time(1e9)) == 20s);
  CHECK(limits.limit_of({.kind = step_kind::samples, .launches = 3}, run_time(1e9)) == 60s);
}

TEST_CASE("what is known to be slower than the best may take a multiple of its own time") {
  const search_step step{.kind = step_kind::samples, .launches = 8, .expected = run_time(4e9)};
  CHECK(limits.limit_of(step, run_time(1e6)) == 80s);
}

TEST_CASE("where something is generated the compiler's time comes on top") {
  CHECK(limits.limit_of({.kind = step_kind::generate}, run_time(1e9)) == 70s);
}

TEST_CASE("limits beyond what can be counted are a year") {
  const auto year = std::chrono::hours(24 * 365);
  CHECK(limits.limit_of({.kind = step_kind::run, .launches = 1}, run_time(1e300)) == year);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(limits.limit_of({.kind = step_kind::run, .launches = 1}, run_time(infinite)) == year);
}

TEST_CASE("a watchdog looks at the step that is under way, and at nothing between steps") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  CHECK_FALSE(watched.deadline());
  CHECK_FALSE(watched.is_over(start + 1h));
  watched.begin({.kind = step_kind::run, .index = 4, .launches = 1}, {}, start);
  REQUIRE(watched.step() != nullptr);
  CHECK(watched.step()->index == 4);
  CHECK(watched.deadline() == start + 10s);
  CHECK_FALSE(watched.is_over(start + 9s));
  CHECK(watched.is_over(start + 10s));
  watched.end(start + 9s);
  CHECK_FALSE(watched.is_over(start + 1h));
}

TEST_CASE("a tuning inside a step stops the step's clock, and its own steps are looked at") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::generate, .index = 4}, {}, start);
  watched.begin_inside(start + 50s);
  CHECK(watched.depth_of_step() == 0);
  watched.begin({.kind = step_kind::first_run, .index = 7, .launches = 1}, {}, start + 60s);
  CHECK(watched.step()->index == 7);
  CHECK(watched.depth_of_step() == 1);
  CHECK(watched.deadline() == start + 70s);
  watched.end(start + 61s);
  watched.begin({.kind = step_kind::first_run, .index = 8, .launches = 1}, {}, start + 100s);
  CHECK_FALSE(watched.is_over(start + 109s));
  CHECK(watched.is_over(start + 110s));
  watched.end(start + 101s);
  watched.end_inside(start + 1000s);
  CHECK(watched.step()->index == 4);
  CHECK(watched.deadline() == start + 1020s);
  CHECK(watched.elapsed(start + 1001s) == 51s);
}

TEST_CASE("a tuning inside a step that makes no step for longer than a compiler may take is over") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::generate, .index = 4}, {}, start);
  watched.begin_inside(start);
  CHECK_FALSE(watched.is_over(start + 129s));
  CHECK(watched.is_over(start + 130s));
  CHECK(watched.step()->index == 4);
}

TEST_CASE("a wait for others stops the clock for as long as it may take") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin_wait(600s, start);
  CHECK(watched.step() == nullptr);
  CHECK(watched.is_over(start + 730s));
  watched.end_wait(start + 500s);
  CHECK_FALSE(watched.deadline());
  watched.begin({.kind = step_kind::run, .index = 4, .launches = 1}, {}, start);
  watched.begin_wait(600s, start + 4s);
  CHECK_FALSE(watched.is_over(start + 729s));
  CHECK(watched.is_over(start + 734s));
  CHECK(watched.step()->index == 4);
  CHECK(watched.depth_of_step() == 0);
  watched.end_wait(start + 500s);
  CHECK(watched.deadline() == start + 506s);
  watched.forget();
  CHECK_FALSE(watched.deadline());
}

TEST_CASE("where a limit is given it holds for what is generated, but for what that compiles") {
  watchdog_limits given = limits;
  given.floor_is_given = true;
  const search_step step{.kind = step_kind::generate};
  CHECK(given.limit_of(step, {}) == 10s);
  watchdog watched(given);
  const watchdog::time_point start{};
  watched.begin(step, {}, start);
  watched.compiling_begins(start + 9s);
  CHECK_FALSE(watched.is_over(start + 60s));
  CHECK(watched.is_over(start + 70s));
  watched.compiling_ends(start + 49s);
  CHECK_FALSE(watched.is_over(start + 49s));
  CHECK(watched.deadline() == start + 50s);
  CHECK(watched.is_over(start + 50s));
}

TEST_CASE("a step that did not run for a while begins anew") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::run, .launches = 1}, {}, start);
  CHECK(watched.is_over(start + 100s));
  watched.begin_anew(start + 100s);
  CHECK_FALSE(watched.is_over(start + 109s));
  CHECK(watched.is_over(start + 110s));
}

}  // namespace watchdog_test
