// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/steadiness.hpp"

#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/measure/simulated_search.hpp"

namespace steadiness_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::steadiness;

/// Runs until it is finished, 1 ms of wall-clock time each; returns the runs.
template <class Time>
std::size_t runs_until_finished(steadiness& device, Time&& time) {
  while (!device.finished()) {
    const std::vector<run_time> times{run_time(time(device.runs()))};
    device.add(times, 1ms);
  }
  return device.runs();
}

TEST_CASE("a steady device is steady after the least time") {
  steadiness device;
  CHECK(runs_until_finished(device, [](std::size_t) { return 100.0; }) == 20);
  CHECK(device.steady());
}

TEST_CASE("a clock that rises is waited for") {
  steadiness device;
  const std::size_t runs = runs_until_finished(
      device, [](std::size_t run) { return 100 * (1 + 0.3 * std::exp(-double(run) / 30)); });
  CHECK(device.steady());
  // By then the rest of the way is less than 4 % of the time.
  CHECK(runs > 60);
  CHECK(runs < 200);
}

TEST_CASE("noise is not mistaken for a movement") {
  tune::testing::simulated_chance chance(5);
  int steady = 0;
  for (int i = 0; i < 100; ++i) {
    steadiness device;
    runs_until_finished(device,
                        [&](std::size_t) { return 100 * std::exp(0.03 * chance.normal()); });
    steady += device.steady() ? 1 : 0;
  }
  CHECK(steady == 100);
}

TEST_CASE("a clock that stands still does not make it wait for ever") {
  steadiness device;
  const std::vector<run_time> times{run_time(100)};
  while (!device.finished()) device.add(times, 0ms);
  CHECK(device.runs() == tune::steadiness_settings{}.most_runs);
}

TEST_CASE("a device that never becomes steady ends when the time is up") {
  steadiness device({.time_limit = 300ms});
  CHECK(runs_until_finished(device, [](std::size_t run) { return 100.0 + double(run); }) == 300);
  CHECK_FALSE(device.steady());
}

TEST_CASE("times that cannot be true are never steady") {
  steadiness device({.time_limit = 50ms});
  runs_until_finished(device, [](std::size_t) { return 0.0; });
  CHECK_FALSE(device.steady());
}

TEST_CASE("settings that make no sense are errors") {
  CHECK_THROWS_AS(steadiness({.group = 0}), tune::argument_error);
  CHECK_THROWS_AS(steadiness({.medians = 1}), tune::argument_error);
  CHECK_THROWS_AS(steadiness({.tolerance = -1}), tune::argument_error);
}

}  // namespace steadiness_test
