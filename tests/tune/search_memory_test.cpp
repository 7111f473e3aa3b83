// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_memory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <optional>
#include <set>
#include <string>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/search_timing.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/trial.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace search_memory_test {

using namespace std::chrono_literals;
using tune::budget_from_text;
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

tune::trial timed(std::size_t index, double time) {
  tune::trial item;
  item.index = index;
  item.outcome = tune::outcome::measured;
  item.score = tune::run_time(time);
  return item;
}

tune::trial failed(std::size_t index) {
  tune::trial item;
  item.index = index;
  item.outcome = tune::outcome::compile_failed;
  return item;
}

TEST_CASE("trials stay in the order in which their configurations came first") {
  tune::trial_list list;
  list.put(timed(7, 3));
  list.put(failed(2));
  list.put(timed(7, 1));
  REQUIRE(list.all().size() == 2);
  CHECK(list.all()[0].index == 7);
  CHECK(list.all()[0].score == tune::run_time(1));
  CHECK(list.find(2) == &list.all()[1]);
  CHECK(list.find(3) == nullptr);
}

TEST_CASE("what was not run is counted as skipped beside what failed") {
  tune::trial_list list;
  list.put(timed(0, 2));
  list.put(failed(1));
  tune::trial over = failed(2);
  over.outcome = tune::outcome::over_limit;
  tune::trial known = failed(3);
  known.origin = tune::trial_origin::cached;
  list.put(over);
  list.put(known);
  CHECK(list.count().failed == 3);
  CHECK(list.count().skipped == 2);
  list.put(failed(3));
  CHECK(list.count().skipped == 1);
}

TEST_CASE("the best score follows a trial that is replaced by a slower one") {
  tune::trial_list list;
  CHECK_FALSE(list.best_score());
  list.put(timed(0, 2));
  list.put(timed(1, 3));
  CHECK(list.best_score() == tune::run_time(2));
  list.put(timed(0, 5));
  CHECK(list.best_score() == tune::run_time(3));
  list.put(failed(1));
  CHECK(list.best_score() == tune::run_time(5));
}

TEST_CASE("the best that was made is none that was taken over") {
  tune::trial_list list;
  tune::trial taken = timed(0, 2);
  taken.origin = tune::trial_origin::resumed;
  list.put(taken);
  CHECK_FALSE(list.best_made());
  list.put(timed(1, 3));
  CHECK(list.best_made() == tune::run_time(3));
  CHECK(list.best_score() == tune::run_time(2));
  list.put(timed(0, 2.5));
  CHECK(list.best_made() == tune::run_time(2.5));
}

TEST_CASE("scores compare once the level of the device is taken out") {
  tune::trial slow = timed(0, 3);
  slow.level = 1.5;
  CHECK(tune::score_at_begin(slow) == tune::run_time(2));
}

TEST_CASE("what is counted is what the list holds now") {
  tune::trial_list list;
  tune::trial taken = timed(0, 2);
  taken.origin = tune::trial_origin::resumed;
  list.put(taken);
  tune::trial dropped = timed(1, 9);
  dropped.dropped = true;
  list.put(dropped);
  list.put(failed(2));
  CHECK(list.count().taken_over == 1);
  CHECK(list.count().measured == 2);
  CHECK(list.count().dropped == 1);
  CHECK(list.count().failed == 1);
  list.put(timed(0, 2));
  list.put(timed(1, 9));
  list.put(timed(2, 9));
  CHECK(list.count().taken_over == 0);
  CHECK(list.count().measured == 3);
  CHECK(list.count().dropped == 0);
  CHECK(list.count().failed == 0);
}

TEST_CASE("of equal scores the earlier configuration is better") {
  CHECK(tune::is_better(timed(1, 2), timed(0, 3)));
  CHECK(tune::is_better(timed(0, 2), timed(1, 2)));
  CHECK_FALSE(tune::is_better(timed(1, 2), timed(0, 2)));
}

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

}  // namespace search_memory_test

namespace search_memory_test::of_trial {

TEST_CASE("every outcome has words of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(tune::outcome::out_of_memory); ++i) {
    const std::string name(tune::outcome_name(static_cast<tune::outcome>(i)));
    CHECK_FALSE(name.empty());
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("an outcome is found again by its words, and by no others") {
  for (int i = 0; i < 12; ++i) {
    const auto result = static_cast<tune::outcome>(i);
    CHECK(tune::outcome_from_name(tune::outcome_name(result)) == result);
  }
  CHECK_FALSE(tune::outcome_from_name("exploded"));
  CHECK_FALSE(tune::outcome_from_name(""));
}

}  // namespace search_memory_test::of_trial

namespace search_memory_test::of_search_clock {

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

}  // namespace search_memory_test::of_search_clock
