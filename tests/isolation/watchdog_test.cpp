// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/watchdog.hpp"

#include <doctest/doctest.h>
#include <limits>

using namespace std::chrono_literals;
using tune::run_time;
using tune::search_step;
using tune::step_kind;
using tune::detail::watchdog;
using tune::detail::watchdog_limits;

namespace {

constexpr watchdog_limits limits{.floor = 10s, .multiple = 20, .compile_time = 60s};

}  // namespace

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
  watched.end();
  CHECK_FALSE(watched.is_over(start + 10s));
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
