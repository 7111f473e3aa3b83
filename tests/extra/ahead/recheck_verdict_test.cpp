// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/recheck_verdict.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/tune/engine/prior_trials.hpp"

namespace recheck_verdict_test {

using tune::outcome;
using tune::recheck_verdict;
using tune::run_time;
using tune::trial;
using tune::detail::comparison;

std::vector<tune::named_value> values(int n) { return {{"n", std::int64_t{n}}}; }

trial measured(int n, double ns, double spread = 0.001) {
  trial made;
  made.index = static_cast<std::size_t>(n);
  made.configuration = values(n);
  made.outcome = outcome::measured;
  made.score = run_time(ns);
  made.bounds = tune::interval{run_time(ns * (1 - spread)), run_time(ns * (1 + spread))};
  return made;
}

trial failed(int n, outcome why, const std::string& reason = {}) {
  trial made;
  made.index = static_cast<std::size_t>(n);
  made.configuration = values(n);
  made.outcome = why;
  made.reason = reason;
  return made;
}

/// A comparison that has tried these, with a winner unless its index is that of the end.
comparison made_of(std::vector<trial> trials, std::size_t best) {
  comparison made;
  made.started = tune::search_started_event{};
  made.started->configurations = 9;
  made.finished = tune::search_finished_event{};
  made.finished->trials = trials;
  if (best < trials.size()) made.finished->best = best;
  made.trials = std::move(trials);
  return made;
}

tune::recheck_result judged(const comparison& made, const std::string& function = "f",
                            double within = 0.02) {
  tune::recheck_result result;
  result.winner.function.name = function;
  result.winner.values = values(1);
  tune::detail::judge(result, made, within);
  return result;
}

TEST_CASE("a result that is the best, or within the tolerance of it, holds") {
  const auto best = judged(made_of({measured(1, 100), measured(2, 120)}, 0));
  CHECK(best.verdict == recheck_verdict::holds);
  CHECK(best.compared == 2);
  CHECK(best.score == run_time(100));
  const auto tied = judged(made_of({measured(1, 101), measured(2, 100)}, 1));
  CHECK(tied.verdict == recheck_verdict::holds);
  CHECK(tied.best == values(2));
  REQUIRE(tied.loss);
  CHECK(tied.loss->estimate == doctest::Approx(0.01));
  CHECK(judged(made_of({measured(1, 101), measured(2, 100)}, 1), "f", 0.005).verdict ==
        recheck_verdict::lost);
}

TEST_CASE("a result that is surely slower is lost, with the bounds of its loss") {
  const auto result = judged(made_of({measured(1, 110), measured(2, 100)}, 1));
  CHECK(result.verdict == recheck_verdict::lost);
  CHECK(result.best == values(2));
  REQUIRE(result.loss);
  CHECK(result.loss->estimate == doctest::Approx(0.1));
  CHECK(result.loss->lower == doctest::Approx(0.0978).epsilon(0.01));
  CHECK(result.loss->upper.value_or(0) == doctest::Approx(0.1022).epsilon(0.01));
  CHECK(tune::detail::needs_second_look(result));
}

TEST_CASE("a difference within the inaccuracy is neither lost nor held") {
  const auto result = judged(made_of({measured(1, 110, 0.2), measured(2, 100, 0.2)}, 1));
  CHECK(result.verdict == recheck_verdict::unknown);
  CHECK(result.reason.find("too inaccurate") != std::string::npos);
  CHECK(tune::detail::needs_second_look(result));
  trial no_bounds = measured(1, 110);
  no_bounds.bounds.reset();
  CHECK(judged(made_of({no_bounds, measured(2, 100)}, 1)).verdict == recheck_verdict::unknown);
}

TEST_CASE("a result that does not work is wrong, whatever else works") {
  for (const outcome why : {outcome::wrong_result, outcome::compile_failed, outcome::crashed,
                            outcome::timed_out, outcome::over_limit, outcome::launch_failed,
                            outcome::device_fault, outcome::failed, outcome::skipped}) {
    const auto result = judged(made_of({failed(1, why, "because"), measured(2, 100)}, 1));
    CHECK(result.verdict == recheck_verdict::wrong);
    CHECK(result.fault == why);
    CHECK_FALSE(result.reason.empty());
    CHECK(result.best == values(2));
    CHECK_FALSE(tune::detail::needs_second_look(result));
  }
  const auto alone = judged(made_of({failed(1, outcome::crashed)}, 1));
  CHECK(alone.verdict == recheck_verdict::wrong);
  CHECK(alone.best.empty());
}

TEST_CASE("lack of memory does not make a result wrong") {
  CHECK(judged(made_of({failed(1, outcome::out_of_memory), measured(2, 1)}, 1)).verdict ==
        recheck_verdict::unknown);
  trial no_room = failed(1, outcome::over_limit, "no room");
  no_room.metrics = {{tune::memory_limit_metric, 1e6, "bytes"}};
  CHECK(judged(made_of({no_room, measured(2, 1)}, 1)).verdict == recheck_verdict::unknown);
}

TEST_CASE("a result outside of the present space is skipped, one that was not reached is unknown") {
  const auto outside = judged(made_of({measured(2, 100)}, 0));
  CHECK(outside.verdict == recheck_verdict::skipped);
  CHECK(outside.reason.find("space of 9") != std::string::npos);
  comparison ended = made_of({measured(2, 100)}, 0);
  ended.finished.reset();
  ended.failure = "the child was lost";
  CHECK(judged(ended).verdict == recheck_verdict::unknown);
  CHECK(judged(ended).reason == "the child was lost");
  ended.is_stopped = true;
  CHECK(judged(ended).is_stopped);
  comparison cut = made_of({measured(1, 100)}, 0);
  cut.finished.reset();
  cut.is_stopped = true;
  CHECK(judged(cut).verdict == recheck_verdict::unknown);
  CHECK(judged(cut).is_stopped);
}

TEST_CASE("another goal decides by its first metric, and a broken constraint is a fault") {
  trial own = measured(1, 100);
  own.metrics = {{"energy", 3, "J"}};
  trial other = measured(2, 200);
  other.metrics = {{"energy", 2, "J"}};
  const auto result = judged(made_of({own, other}, 1), "f..min_energy");
  CHECK(result.verdict == recheck_verdict::lost);
  CHECK(result.loss->estimate == doctest::Approx(0.5));
  own.metrics.clear();
  CHECK(judged(made_of({own, other}, 1), "f..min_energy").verdict == recheck_verdict::unknown);
  trial unfit = failed(1, outcome::unfit, "its power is 120 W");
  CHECK(judged(made_of({unfit, other}, 1), "f..power_le_100").verdict == recheck_verdict::unknown);
  unfit.metrics = {{"power", 120, "W"}};
  CHECK(judged(made_of({unfit, other}, 1), "f..power_le_100").verdict == recheck_verdict::wrong);
}

tune::stored_trial stored(int n, double ns, double level = 1) {
  return {.configuration = values(n), .outcome = "measured", .score_ns = ns, .level = level};
}

TEST_CASE("rivals are the best trials and the test default, each once") {
  tune::stored_winner winner;
  winner.values = values(1);
  winner.score_ns = 1000;
  const std::vector<tune::stored_trial> trials{stored(1, 1000),
                                               stored(5, 5000),
                                               stored(2, 2000),
                                               stored(4, 8000, 4),
                                               {.configuration = values(9)}};
  std::vector<std::vector<tune::named_value>> further;
  const auto listed = [&](std::size_t most, int by_default) {
    return tune::detail::list_rivals(winner, further, trials, values(by_default), most,
                                     std::chrono::seconds(1));
  };
  // The device was slower by four times when 4 was measured.
  CHECK(listed(2, 7) == std::vector{values(1), values(2), values(4), values(7)});
  CHECK(listed(9, 2) == std::vector{values(1), values(2), values(4), values(5)});
  CHECK(listed(0, 7) == std::vector{values(1), values(7)});
  winner.score_ns = 40e6;  // 2 of them take most of a second
  CHECK(listed(9, 7) == std::vector{values(1), values(2)});
  further = {values(8), values(9)};
  CHECK(listed(9, 7) == std::vector{values(1), values(8), values(9)});
  winner.score_ns = 1000;
  CHECK(listed(1, 7) == std::vector{values(1), values(8), values(9), values(2), values(7)});
}

}  // namespace recheck_verdict_test
