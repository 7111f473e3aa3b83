// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/drift_monitor.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <initializer_list>
#include <vector>

#include "libtune/base/error.hpp"

namespace drift_monitor_test {

using tune::drift_monitor;
using tune::run_time;
using tune::samples;
using enum tune::drift_verdict;
using verdicts = std::vector<tune::drift_verdict>;

constexpr double quiet = 0.001;

samples visit(double time) { return samples({run_time(time), run_time(time), run_time(time)}); }

/// Scores a sentinel at this time, and begins a block.
void open(drift_monitor& drift, double time) { drift.open(visit(time), quiet, run_time(time)); }

/// What the monitor says of visits that take these times.
verdicts close(drift_monitor& drift, std::initializer_list<double> times, double spread = quiet) {
  verdicts said;
  for (const double time : times) said.push_back(drift.close(visit(time), spread));
  return said;
}

TEST_CASE("a device that stays is steady, and nothing is reported") {
  drift_monitor drift;
  open(drift, 100);
  CHECK(close(drift, {101}) == verdicts{steady});
  CHECK_MESSAGE(drift.level() == doctest::Approx(1.005).epsilon(0.001), "between both visits");
  CHECK(drift.before() == doctest::Approx(1.01));
  CHECK(close(drift, {100}) == verdicts{steady});
  CHECK(drift.report().blocks == 2);
  CHECK(drift.report().resolved());
  CHECK(tune::drift_text(drift.report()).empty());
}

TEST_CASE("a step is noticed once, and the next block begins on its far side") {
  drift_monitor drift;
  open(drift, 100);
  CHECK(close(drift, {108}) == verdicts{moved});
  CHECK(drift.movement() == doctest::Approx(0.07696).epsilon(0.001));
  CHECK(close(drift, {108}) == verdicts{steady});
  CHECK(drift.report().moved == 1);
  CHECK(drift.report().resolved());
  CHECK(drift.report().range == doctest::Approx(0.08));
}

TEST_CASE("a drift that does not end is given up on, and reported") {
  drift_monitor drift({.threshold = 0.02, .runs = 4, .repeats = 2});
  open(drift, 100);
  CHECK(close(drift, {104.5, 109.2, 114.1}) == verdicts{moved, moved, unresolved});
  CHECK_FALSE(drift.report().resolved());
  const std::string text = tune::drift_text(drift.report());
  CHECK(text.find("4.4 % at once, in 3 of 3 blocks") != std::string::npos);
  CHECK(text.find("1 of them remained unresolved") != std::string::npos);
}

TEST_CASE("the usual spread of runs is no drift") {
  drift_monitor drift;
  open(drift, 100);
  CHECK(close(drift, {105}, 0.03) == verdicts{steady});
  CHECK(drift.tolerance(0.03) > drift.tolerance(0.01));
  CHECK(drift.tolerance(0.0) == doctest::Approx(0.02));
}

TEST_CASE("a loud device is visited longer, up to three times") {
  const drift_monitor drift;
  CHECK(drift.runs(quiet) == 4);
  CHECK(drift.runs(0.02) == 8);
  CHECK(drift.runs(0.5) == 12);
}

TEST_CASE("another sentinel is no movement of the device") {
  drift_monitor drift;
  open(drift, 100);
  open(drift, 50);
  CHECK(close(drift, {50}) == verdicts{steady});
  CHECK(drift.report().range == doctest::Approx(0));
}

TEST_CASE("the time of a visit is that of most of its faster runs") {
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

TEST_CASE("a device far slower than before is waited for, and reported") {
  drift_monitor drift;
  open(drift, 100);
  CHECK(close(drift, {300, 280, 101}) == verdicts{disturbed, disturbed, steady});
  CHECK(drift.before() == doctest::Approx(1.01));
  CHECK(drift.report().blocks == 1);
  CHECK(drift.report().moved == 1);
  CHECK(drift.report().disturbed == 1);
  CHECK(drift.report().resolved());
}

TEST_CASE("a device that stays far slower is believed when the patience ends") {
  drift_monitor drift({.patience = std::chrono::microseconds(3)});
  open(drift, 100);
  drift.spend(run_time(1e6));
  // Of 900 ns each.
  CHECK(close(drift, {300, 300, 300}) == verdicts(3, disturbed));
  CHECK(close(drift, {300}) != verdicts{disturbed});
  CHECK_FALSE(drift.report().resolved());
  CHECK(close(drift, {300}) == verdicts{steady});
  CHECK_FALSE(drift.is_disturbed(3, quiet));
}

TEST_CASE("a device that was disturbed from the start shows it when it calms") {
  drift_monitor drift;
  open(drift, 300);
  CHECK(close(drift, {301}) == verdicts{steady});
  CHECK_FALSE(drift.has_calmed());
  CHECK(close(drift, {100}) == verdicts{moved});
  CHECK(drift.has_calmed());
  CHECK(drift.is_disturbed(1, quiet));
  CHECK_FALSE(drift.is_disturbed(0.34, quiet));
}

TEST_CASE("settings that cannot notice anything are errors") {
  for (const tune::drift_settings& wrong : std::vector<tune::drift_settings>{
           {.threshold = 0}, {.runs = 0}, {.repeats = -1}, {.largest = 0}}) {
    CHECK_THROWS_AS(drift_monitor{wrong}, tune::argument_error);
  }
}

}  // namespace drift_monitor_test
