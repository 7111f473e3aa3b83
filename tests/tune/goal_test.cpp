// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/goal.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/metric_sources.hpp"

namespace goal_test {

using tune::at_least;
using tune::at_most;
using tune::goal_from_text;
using tune::maximise;
using tune::metric_value;
using tune::minimise;
using tune::pareto_front;
using tune::trial;
using tune::tuning_goal;
using tune::detail::cost_of;
using tune::detail::name_with_goal;
using tune::detail::split_name;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

const std::vector<tuning_goal>& goals() {
  static const std::vector<tuning_goal> all{
      {.objectives = {minimise("time")}},
      {.objectives = {maximise("gflops"), minimise("energy")}},
      {.objectives = {minimise("max_le_1")}, .constraints = {at_most("a_ge_b", -1.5e-30)}},
      {.objectives = {minimise("time")},
       .constraints = {at_most("power", 100), at_least("accuracy", 0.1 + 0.2),
                       at_most("p99", 1e22)}}};
  return all;
}

TEST_CASE("a goal is read from its text and from its name as it was written") {
  for (const tuning_goal& goal : goals()) {
    CAPTURE(to_string(goal));
    CHECK(goal_from_text(to_string(goal)) == goal);
    if (goal.is_time()) continue;
    const std::string name = name_with_goal("f.autotune", goal);
    CAPTURE(name);
    CHECK(split_name(name).first == "f.autotune");
    CHECK(split_name(name).second == goal);
    // It names a table.
    CHECK_NOTHROW(tune::table_name({.name = name}));
  }
}

TEST_CASE("the least time needs no name of its own, said or not") {
  CHECK(name_with_goal("f", {}) == "f");
  CHECK(name_with_goal("f", {.objectives = {minimise("time")}}) == "f");
  CHECK(split_name("f").second.is_time());
  CHECK(name_with_goal("f", {.objectives = {maximise("time")}}) == "f..max_time");
  CHECK(name_with_goal("f", {.constraints = {at_most("power", 99.5)}}) ==
        "f..min_time.power_le_99p5");
}

TEST_CASE("bounds of times have units") {
  const auto goal = goal_from_text(" min energy , time<= 85 us,p99 <=1 ms ");
  REQUIRE(goal);
  CHECK(goal->constraints == std::vector{at_most("time", 85e3), at_most("p99", 1e6)});
}

TEST_CASE("the same bits are part of a goal, of its text and of the name of its results") {
  const auto goal = goal_from_text("max gflops, power <= 100, same bits");
  REQUIRE(goal);
  CHECK(goal->same_bits);
  CHECK_FALSE(goal->is_time());
  CHECK(tune::to_string(*goal) == "max gflops, power <= 100, same bits");
  const std::string name = tune::detail::name_with_goal("f", *goal);
  CHECK(name == "f..max_gflops.power_le_100.same_bits");
  CHECK(tune::detail::split_name(name) == std::pair(std::string("f"), *goal));
  const auto alone = goal_from_text("same bits");
  REQUIRE(alone);
  CHECK(tune::to_string(*alone) == "min time, same bits");
  CHECK(tune::detail::split_name(tune::detail::name_with_goal("f", *alone)).second.same_bits);
  CHECK_FALSE(goal_from_text("same bits, same bits"));
}

TEST_CASE("a bound of the ratio of signal to noise may have its unit, and no other metric") {
  const auto goal = goal_from_text("min time, snr >= 60 dB");
  REQUIRE(goal);
  CHECK(goal->constraints == std::vector{tune::at_least("snr", 60)});
  CHECK(goal_from_text(tune::to_string(*goal)) == goal);
  CHECK_FALSE(goal_from_text("min time, power <= 60 dB"));
}

TEST_CASE("what is no goal is refused") {
  for (const char* text :
       {"", "time", "min", "min Time", "least time", "power <= much", "<= 3", "min time, min time",
        "min time, max time", "min a,", "a <= inf", "time <= 1e300 s", "a <= 3 W", "a < 3"}) {
    CAPTURE(text);
    CHECK_FALSE(goal_from_text(text));
  }
  CHECK_THROWS_AS(name_with_goal("f", {.objectives = {minimise("No")}}), tune::argument_error);
  CHECK_THROWS_AS(name_with_goal("f", {.objectives = {minimise("a"), maximise("a")}}),
                  tune::argument_error);
}

TEST_CASE("costs are over zero, and in the order of the goal") {
  const std::vector<double> values{-1e6, -1, 0, 1e-12, 0.5, 1, 64, 1e9};
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(cost_of(minimise("a"), values[i]) > 0);
    CHECK(cost_of(maximise("a"), values[i]) > 0);
    if (i == 0) continue;
    CHECK(cost_of(minimise("a"), values[i - 1]) < cost_of(minimise("a"), values[i]));
    CHECK(cost_of(maximise("a"), values[i - 1]) > cost_of(maximise("a"), values[i]));
  }
  CHECK(std::isnan(cost_of(minimise("a"), unknown)));
  CHECK(cost_of(maximise("a"), 4.0) / cost_of(maximise("a"), 8.0) == doctest::Approx(2));
}

trial measured(const std::vector<double>& times, std::vector<tune::metric> metrics = {}) {
  trial made;
  for (const double time : times) made.samples.add(tune::run_time(time));
  made.score = made.samples.median();
  made.metrics = std::move(metrics);
  return made;
}

TEST_CASE("a figure is a metric, else a statistic of the samples") {
  const trial one = measured({1, 2, 3, 4, 100}, {{"min", 7}, {"power", 90, "W"}});
  CHECK(metric_value(one, "time") == 3);
  CHECK(metric_value(one, "mean") == 22);
  CHECK(metric_value(one, "p0") == 1);
  CHECK(metric_value(one, "p50") == 3);
  CHECK(metric_value(one, "p100") == 100);
  CHECK(metric_value(one, "p75") == 4);
  CHECK(metric_value(one, "min") == 7);
  CHECK(metric_value(one, "power") == 90);
  for (const char* name : {"energy", "p", "p101", "p9x", "p-1"}) {
    CAPTURE(name);
    CHECK(std::isnan(metric_value(one, name)));
  }
  CHECK(std::isnan(metric_value(trial{}, "time")));
}

TEST_CASE("a broken constraint is told with its figures") {
  const tuning_goal goal{.objectives = {minimise("energy")},
                         .constraints = {at_most("power", 100)}};
  const auto why = [&](std::vector<tune::metric> metrics, bool known_only) {
    return tune::detail::why_unfit(goal, measured({1}, std::move(metrics)), known_only)
        .value_or("");
  };
  CHECK(why({{"power", 120, "W"}}, true) == "its power is 120 W; 100 or less is asked for");
  CHECK(why({}, true) == "");
  CHECK(why({}, false) == "its power is not known, but has a bound");
  CHECK(why({{"power", 100}}, false) == "its energy is not known, but is to be minimised");
  CHECK(why({{"power", 100}, {"energy", 1}}, false) == "");
}

TEST_CASE("the Pareto front holds what nothing beats by all objectives") {
  const tuning_goal goal{.objectives = {minimise("time"), maximise("accuracy")}};
  std::vector<trial> trials;
  const auto add = [&](double time, double accuracy) {
    trials.push_back(measured({time}, {{"accuracy", accuracy}}));
  };
  add(3, 0.9);      // 0: worse than 3
  add(1, 0.5);      // 1
  add(2, 0.5);      // 2: worse than 1
  add(2, 0.9);      // 3
  add(9, unknown);  // 4: does not compete
  add(4, 0.99);     // 5
  add(2, 0.9);      // 6: equal to 3
  trials.push_back(trial{});
  CHECK(pareto_front(goal, trials) == std::vector<std::size_t>{1, 3, 6, 5});
  CHECK(pareto_front({}, trials) == std::vector<std::size_t>{1});
}

}  // namespace goal_test
