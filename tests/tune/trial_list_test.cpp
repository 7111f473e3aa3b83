// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_list.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>

#include "libtune/tune/trial.hpp"

namespace trial_list_test {

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

}  // namespace trial_list_test

namespace trial_list_test::of_trial {

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

}  // namespace trial_list_test::of_trial
