// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/drift_monitor.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"

using tune::drift_monitor;
using tune::drift_verdict;
using tune::run_time;
using tune::samples;

namespace {

samples visit(double time) { return samples({run_time(time), run_time(time), run_time(time)}); }

}  // namespace

TEST_CASE("a device that stays is steady, and nothing is reported") {
  drift_monitor drift;
  drift.open(visit(100));
  CHECK(drift.close(visit(101), 0.001) == drift_verdict::steady);
  CHECK(drift.close(visit(100), 0.001) == drift_verdict::steady);
  CHECK(drift.report().blocks == 2);
  CHECK(drift.report().settled());
  CHECK(tune::drift_text(drift.report()).empty());
}

TEST_CASE("the level of a block is between what the sentinel took before and after") {
  drift_monitor drift;
  drift.open(visit(100));
  drift.close(visit(101), 0.001);
  CHECK(drift.level().count() == doctest::Approx(100.4988));
  CHECK(drift.before() == run_time(101));
}

TEST_CASE("a step is noticed once, and the next block begins on its far side") {
  drift_monitor drift;
  drift.open(visit(100));
  CHECK(drift.close(visit(108), 0.001) == drift_verdict::moved);
  CHECK(drift.movement() == doctest::Approx(0.07696).epsilon(0.001));
  CHECK(drift.close(visit(108), 0.001) == drift_verdict::steady);
  CHECK(drift.report().moved == 1);
  CHECK(drift.report().settled());
  CHECK(drift.report().range == doctest::Approx(0.08));
}

TEST_CASE("a drift that does not end is given up on, and told") {
  drift_monitor drift({.threshold = 0.02, .runs = 4, .repeats = 2});
  drift.open(visit(100));
  CHECK(drift.close(visit(110), 0.001) == drift_verdict::moved);
  CHECK(drift.close(visit(120), 0.001) == drift_verdict::moved);
  CHECK(drift.close(visit(130), 0.001) == drift_verdict::unsettled);
  CHECK_FALSE(drift.report().settled());
  const std::string text = tune::drift_text(drift.report());
  CHECK(text.find("9.5 % at once, in 3 of 3 blocks") != std::string::npos);
  CHECK(text.find("1 of them could not be settled") != std::string::npos);
}

TEST_CASE("what runs differ by anyway is no drift") {
  drift_monitor drift;
  drift.open(visit(100));
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
  drift.open(visit(100));
  drift.open(visit(50));
  CHECK(drift.close(visit(50), 0.001) == drift_verdict::steady);
  CHECK(drift.report().range == doctest::Approx(0));
}

TEST_CASE("settings that cannot notice anything are errors") {
  CHECK_THROWS_AS(drift_monitor({.threshold = 0}), tune::argument_error);
  CHECK_THROWS_AS(drift_monitor({.runs = 0}), tune::argument_error);
  CHECK_THROWS_AS(drift_monitor({.repeats = -1}), tune::argument_error);
}
