// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/search_memory.hpp"

#include <doctest/doctest.h>

namespace search_memory_test {

using namespace std::chrono_literals;
using tune::outcome;
using tune::trial;
using tune::trial_origin;
using tune::detail::finished_news;
using tune::detail::search_memory;
using story = tune::detail::search_memory::story;

constexpr search_memory::time_point start{};

trial made(std::size_t index, outcome result = outcome::measured) {
  trial one;
  one.index = index;
  one.configuration = {{"n", static_cast<std::int64_t>(index)}};
  one.outcome = result;
  if (result != outcome::measured) return one;
  one.samples.add(tune::run_time(static_cast<double>(index) + 1));
  one.score = tune::score(one.samples);
  return one;
}

trial with_origin(trial one, trial_origin origin) {
  one.origin = origin;
  return one;
}

TEST_CASE("before a search has started a child is told what earlier searches know") {
  search_memory memory({}, {.unfinished = {{.outcome = "measured"}}}, start);
  CHECK(memory.read_prior(start + 1s).unfinished.size() == 1);
  CHECK_FALSE(memory.read_prior(start + 1s).goes_on);
  CHECK(memory.read_prior(start + 1s).spent.time == 0s);
}

TEST_CASE("a second child is told what the first has measured and used of the budget") {
  search_memory memory({}, {.compile_failures = {{.outcome = "compile failed"}}}, start);
  CHECK(memory.start(0));
  CHECK(memory.add(made(1), false) == story::finished);
  CHECK(memory.add(made(2, outcome::crashed), false) == story::finished);
  CHECK(memory.add(with_origin(made(3, outcome::compile_failed), trial_origin::cached), false) ==
        story::finished);
  const auto told = memory.read_prior(start + 5s);
  CHECK(told.goes_on);
  REQUIRE(told.unfinished.size() == 2);
  CHECK(told.unfinished[1].outcome == "crashed");
  REQUIRE(told.denied.size() == 1);
  CHECK(told.compile_failures.size() == 1);
  CHECK(told.spent.time == 5s);
  CHECK(told.spent.trials == 3);
}

TEST_CASE("what a second child says again is no news") {
  search_memory memory({}, {}, start);
  CHECK(memory.start(1));
  CHECK(memory.take_over(with_origin(made(1), trial_origin::resumed)) == story::taken_over);
  const trial remembered = with_origin(made(2, outcome::compile_failed), trial_origin::cached);
  CHECK(memory.add(remembered, false) == story::finished);
  CHECK_FALSE(memory.start(2));
  CHECK(memory.take_over(with_origin(made(1), trial_origin::resumed)) == story::nothing);
  CHECK(memory.add(remembered, false) == story::nothing);
  CHECK(memory.add(made(2), false) == story::finished);
  CHECK(memory.add(made(2), true) == story::refined);
  CHECK(memory.progress({.taken_over = 2}, start + 3s).taken_over == 1);
  CHECK(memory.progress({.taken_over = 2}, start + 3s).elapsed == 3s);
}

TEST_CASE("a configuration that is lost after it was measured replaces what was known of it") {
  search_memory memory({}, {}, start);
  memory.start(0);
  memory.add(made(1), false);
  CHECK(memory.add(made(1, outcome::crashed), false) == story::refined);
  CHECK(memory.trials().size() == 1);
  CHECK_FALSE(memory.best_score());
}

TEST_CASE("the end of a search is told once, with the trials of all children") {
  search_memory memory({}, {}, start);
  memory.start(0);
  memory.add(made(5), false);
  memory.add(made(4), false);
  const auto event = memory.finish({.best = 4, .elapsed = 1s}, start + 3s);
  REQUIRE(event);
  CHECK(event->best == 1);
  CHECK(event->trials.size() == 2);
  CHECK(event->elapsed == 3s);
  CHECK(event->times.idle == 2s);
  CHECK_FALSE(memory.finish({.best = 4}, start + 4s));
  CHECK(memory.add(made(6), false) == story::nothing);
}

}  // namespace search_memory_test
