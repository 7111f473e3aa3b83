// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_memory.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <string>

namespace search_memory_test {

using namespace std::chrono_literals;
using tune::outcome;
using tune::trial;
using tune::trial_origin;
using tune::trial_stage;

constexpr tune::detail::search_memory::time_point start{};

trial made(std::size_t index, outcome result = outcome::measured,
           trial_origin origin = trial_origin::made) {
  trial one;
  one.index = index;
  one.configuration = {{"n", static_cast<std::int64_t>(index)}};
  one.outcome = result;
  one.origin = origin;
  if (result != outcome::measured) return one;
  one.samples.add(tune::run_time(static_cast<double>(index) + 1));
  one.score = tune::score(one.samples);
  return one;
}

struct scene {
  tune::detail::search_memory memory;

  explicit scene(tune::prior_knowledge known = {}) : memory({}, std::move(known), start) {}

  bool starts(std::size_t taken_over) {
    tune::search_started_event event;
    event.taken_over = taken_over;
    return memory.join(event, start).has_value();
  }
  /// The stage that observers see; empty: they see nothing.
  std::optional<trial_stage> add(const trial& item, trial_stage stage = trial_stage::finished) {
    const auto joined = memory.join(tune::trial_event{{}, item, stage}, start);
    if (!joined) return std::nullopt;
    return std::get<tune::trial_event>(*joined).stage;
  }
};

TEST_CASE("before a search has started a child gets the results of earlier searches") {
  const scene s({.unfinished = {{.outcome = "measured"}}});
  CHECK(s.memory.read_prior(start + 1s).unfinished.size() == 1);
  CHECK_FALSE(s.memory.read_prior(start + 1s).goes_on);
  CHECK(s.memory.read_prior(start + 1s).spent.time == 0s);
}

TEST_CASE("a second child gets the trials of the first, and what it has used of the budget") {
  scene s({.compile_failures = {{.outcome = "compile failed"}}});
  CHECK(s.starts(0));
  CHECK(s.add(made(1)) == trial_stage::finished);
  CHECK(s.add(made(2, outcome::crashed)) == trial_stage::finished);
  CHECK(s.add(made(3, outcome::compile_failed, trial_origin::cached)) == trial_stage::finished);
  const auto told = s.memory.read_prior(start + 5s);
  CHECK(told.goes_on);
  REQUIRE(told.unfinished.size() == 2);
  CHECK(told.unfinished[1].outcome == "crashed");
  REQUIRE(told.denied.size() == 1);
  CHECK(told.compile_failures.size() == 1);
  CHECK(told.spent.time == 5s);
  CHECK(told.spent.trials == 3);
}

TEST_CASE("events that a second child repeats are dropped") {
  scene s;
  CHECK(s.starts(1));
  const trial taken = made(1, outcome::measured, trial_origin::resumed);
  const trial remembered = made(2, outcome::compile_failed, trial_origin::cached);
  CHECK(s.add(taken, trial_stage::taken_over) == trial_stage::taken_over);
  CHECK(s.add(remembered) == trial_stage::finished);
  CHECK_FALSE(s.starts(2));
  CHECK_FALSE(s.add(taken, trial_stage::taken_over));
  CHECK_FALSE(s.add(remembered));
  CHECK(s.add(made(2)) == trial_stage::finished);
  CHECK(s.add(made(2), trial_stage::refined) == trial_stage::refined);
  CHECK_FALSE(s.memory.join(tune::lookup_event{}, start));
  const auto event = s.memory.join(tune::progress_event{{}, {.taken_over = 2}}, start + 3s);
  REQUIRE(event);
  CHECK(std::get<tune::progress_event>(*event).progress.taken_over == 1);
  CHECK(std::get<tune::progress_event>(*event).progress.elapsed == 3s);
}

TEST_CASE("a configuration that is lost after it was measured replaces its trial") {
  scene s;
  s.starts(0);
  s.add(made(1));
  CHECK(s.add(made(1, outcome::crashed)) == trial_stage::refined);
  CHECK(s.memory.trials().all().size() == 1);
  CHECK_FALSE(s.memory.best_score());
}

TEST_CASE("the end of a search is reported once, with the trials of all children") {
  scene s;
  s.starts(0);
  s.add(made(5));
  s.add(made(4));
  const tune::search_finished_event end{
      .subject = {}, .trials = {made(4)}, .best = 0, .elapsed = 1s};
  const auto joined = s.memory.join(end, start + 3s);
  REQUIRE(joined);
  const auto& event = std::get<tune::search_finished_event>(*joined);
  CHECK(event.best == 1);
  CHECK(event.trials.size() == 2);
  CHECK(event.elapsed == 3s);
  CHECK(event.times.idle == 2s);
  CHECK_FALSE(s.memory.join(end, start + 4s));
  CHECK_FALSE(s.add(made(6)));
}

}  // namespace search_memory_test
