// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/drift_monitor.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <initializer_list>

#include "libtune/base/error.hpp"

namespace drift_monitor_test {

using tune::drift_monitor;
using tune::drift_verdict;
using tune::run_time;
using tune::samples;

samples visit(double time) { return samples({run_time(time), run_time(time), run_time(time)}); }

TEST_CASE("a device that stays is steady, and nothing is reported") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  CHECK(drift.close(visit(101), 0.001) == drift_verdict::steady);
  CHECK(drift.close(visit(100), 0.001) == drift_verdict::steady);
  CHECK(drift.report().blocks == 2);
  CHECK(drift.report().resolved());
  CHECK(tune::drift_text(drift.report()).empty());
}

TEST_CASE("the level of a block is between what the sentinel took before and after") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  drift.close(visit(101), 0.001);
  CHECK(drift.level() == doctest::Approx(1.005).epsilon(0.001));
  CHECK(drift.before() == doctest::Approx(1.01));
}

TEST_CASE("a step is noticed once, and the next block begins on its far side") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  CHECK(drift.close(visit(108), 0.001) == drift_verdict::moved);
  CHECK(drift.movement() == doctest::Approx(0.07696).epsilon(0.001));
  CHECK(drift.close(visit(108), 0.001) == drift_verdict::steady);
  CHECK(drift.report().moved == 1);
  CHECK(drift.report().resolved());
  CHECK(drift.report().range == doctest::Approx(0.08));
}

TEST_CASE("a drift that does not end is given up on, and told") {
  drift_monitor drift({.threshold = 0.02, .runs = 4, .repeats = 2});
  drift.open(visit(100), 0.001, run_time(100));
  CHECK(drift.close(visit(104.5), 0.001) == drift_verdict::moved);
  CHECK(drift.close(visit(109.2), 0.001) == drift_verdict::moved);
  CHECK(drift.close(visit(114.1), 0.001) == drift_verdict::unresolved);
  CHECK_FALSE(drift.report().resolved());
  const std::string text = tune::drift_text(drift.report());
  CHECK(text.find("4.4 % at once, in 3 of 3 blocks") != std::string::npos);
  CHECK(text.find("1 of them remained unresolved") != std::string::npos);
}

TEST_CASE("what runs differ by anyway is no drift") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  CHECK(drift.close(visit(105), 0.03) == drift_verdict::steady);
  CHECK(drift.tolerance(0.03) > drift.tolerance(0.01));
  CHECK(drift.tolerance(0.0) == doctest::Approx(0.02));
}

TEST_CASE("a loud device is visited longer, up to three times") {
  const drift_monitor drift;
  CHECK(drift.runs(0.001) == 4);
  CHECK(drift.runs(0.02) == 8);
  CHECK(drift.runs(0.5) == 12);
}

TEST_CASE("another sentinel is no movement of the device") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  drift.open(visit(50), 0.001, run_time(50));
  CHECK(drift.close(visit(50), 0.001) == drift_verdict::steady);
  CHECK(drift.report().range == doctest::Approx(0));
}

TEST_CASE("a visit is what most of its faster runs take") {
  const auto taken = [](std::initializer_list<double> times) {
    samples visit;
    for (const double time : times) visit.add(run_time(time));
    return tune::visit_time(visit, 0.01).count();
  };
  CHECK(taken({100}) == 100);
  CHECK(taken({100, 102, 101, 103}) == 101.5);
  CHECK(taken({100, 2000, 101, 4000}) == 100.5);  // half of the runs lost a time slice
  CHECK(taken({100, 101, 60, 102}) == 100.5);     // an outlier downwards is no scale
}

TEST_CASE("a device far slower than before is waited for, and told") {
  drift_monitor drift;
  drift.open(visit(100), 0.001, run_time(100));
  CHECK(drift.close(visit(300), 0.001) == drift_verdict::disturbed);
  CHECK(drift.close(visit(280), 0.001) == drift_verdict::disturbed);
  CHECK(drift.close(visit(101), 0.001) == drift_verdict::steady);
  CHECK(drift.before() == doctest::Approx(1.01));
  CHECK(drift.report().blocks == 1);
  CHECK(drift.report().moved == 1);
  CHECK(drift.report().disturbed == 1);
  CHECK(drift.report().resolved());
}

TEST_CASE("a device that stays far slower is believed when the patience ends") {
  drift_monitor drift({.patience = std::chrono::microseconds(3)});
  drift.open(visit(100), 0.001, run_time(100));
  drift.spend(run_time(1e6));
  int visits = 1;
  while (drift.close(visit(300), 0.001) == drift_verdict::disturbed) REQUIRE(++visits < 10);
  CHECK(visits == 4);  // of 900 ns each
  CHECK_FALSE(drift.report().resolved());
  CHECK(drift.close(visit(300), 0.001) == drift_verdict::steady);
  CHECK_FALSE(drift.is_disturbed(3, 0.001));
}

TEST_CASE("a device that was disturbed from the start shows it when it calms") {
  drift_monitor drift;
  drift.open(visit(300), 0.001, run_time(300));
  CHECK(drift.close(visit(301), 0.001) == drift_verdict::steady);
  CHECK_FALSE(drift.has_calmed());
  CHECK(drift.close(visit(100), 0.001) == drift_verdict::moved);
  CHECK(drift.has_calmed());
  CHECK(drift.is_disturbed(1, 0.001));
  CHECK_FALSE(drift.is_disturbed(0.34, 0.001));
}

TEST_CASE("settings that cannot notice anything are errors") {
  CHECK_THROWS_AS(drift_monitor({.threshold = 0}), tune::argument_error);
  CHECK_THROWS_AS(drift_monitor({.runs = 0}), tune::argument_error);
  CHECK_THROWS_AS(drift_monitor({.repeats = -1}), tune::argument_error);
  CHECK_THROWS_AS(drift_monitor({.largest = 0}), tune::argument_error);
}

}  // namespace drift_monitor_test
