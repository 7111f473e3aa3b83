// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/stopping.hpp"

#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/measure/simulated_search.hpp"

namespace stopping_test {

using namespace std::chrono_literals;
using tune::iteration_plan;
using tune::run_time;
using tune::warm_up_detector;

int planned(run_time device_time, run_time wall_time) {
  return iteration_plan({}, device_time, wall_time).planned();
}

/// The iterations made when each takes this long.
int made(const tune::measure_settings& settings, run_time first, run_time each) {
  iteration_plan plan(settings, first, first);
  int done = 0;
  while (!plan.finished()) {
    const int batch = plan.next_batch();
    REQUIRE(batch > 0);
    plan.add(batch, each * batch);
    done += batch;
  }
  CHECK(plan.next_batch() == 0);
  return done;
}

TEST_CASE("as many iterations are planned as fit in the time limit, within bounds") {
  CHECK(planned(1ms, 1ms) == 100);
  CHECK(planned(3ms, 3ms) == 33);
  CHECK(planned(50ms, 50ms) == 3);
  CHECK(planned(10s, 10s) == 3);
  CHECK(planned(100us, 100us) == 1000);
  CHECK(planned(1ns, 1ns) == 1000);
  CHECK(iteration_plan({.time_limit = 0ns}, 1ms, 1ms).planned() == 3);
  CHECK_MESSAGE(planned(1ms, 2ms) == 50, "the larger time counts");
  CHECK(planned(2ms, 1ms) == 50);
  CHECK_MESSAGE(iteration_plan({.time_limit = 10us}, 1ns, 1ns).planned() == 10,
                "a run counts as a microsecond at least");
}

TEST_CASE("times that cannot be true do not upset the plan") {
  constexpr run_time nan(std::numeric_limits<double>::quiet_NaN());
  constexpr run_time infinity(std::numeric_limits<double>::infinity());
  CHECK(planned(nan, 1ms) == 100);
  CHECK(planned(1ms, nan) == 100);
  CHECK(planned(nan, nan) == 1000);
  CHECK(planned(-1ms, -1ms) == 1000);
  CHECK(planned(infinity, 1ms) == 3);
}

TEST_CASE("a plan that goes as expected is done to the last iteration") {
  CHECK(made({}, 1ms, 1ms) == 100);
  CHECK(made({}, 1ns, 1ns) == 1000);
  CHECK(made({}, 1s, 1s) == 3);
  CHECK(made({.min_iterations = 1, .max_iterations = 1}, 1ns, 1ns) == 1);
  CHECK(made({.min_iterations = 7, .max_iterations = 7}, 1s, 1s) == 7);
}

TEST_CASE("runs that are slower than the first end when the time is used up") {
  // Batches of 13 that take 65 ms each.
  CHECK(made({}, 1ms, 5ms) == 26);
  CHECK(made({}, 1us, 10s) == 125);
}

TEST_CASE("the minimum is made however long it takes") {
  CHECK(made({.time_limit = 0ns}, 1us, 1s) == 3);
  CHECK(made({.time_limit = 1ms, .min_iterations = 20}, 1s, 1s) == 20);
}

TEST_CASE("a clock that goes backwards does not earn more time") {
  iteration_plan plan({.time_limit = 3ms, .min_iterations = 1}, 1ms, 1ms);
  plan.add(1, 3ms);
  plan.add(1, -10s);
  CHECK(plan.finished());
}

TEST_CASE("settings that contradict themselves are errors") {
  const auto make = [](tune::measure_settings settings) { iteration_plan(settings, 1ms, 1ms); };
  CHECK_THROWS_AS(make({.min_iterations = 0}), tune::argument_error);
  CHECK_THROWS_AS(make({.min_iterations = 5, .max_iterations = 4}), tune::argument_error);
  CHECK_THROWS_AS(make({.time_limit = -1ns}), tune::argument_error);
}

TEST_CASE("short runs are averaged, the shorter the more, where the timer is coarse") {
  using tune::runs_per_sample;
  struct row {
    run_time run;
    run_time tick;
    int runs;
  };
  constexpr run_time nan(std::numeric_limits<double>::quiet_NaN());
  for (const auto& [run, tick, runs] : std::vector<row>{{1ms, 500ns, 1},
                                                        {21us, 500ns, 1},
                                                        {10us, 500ns, 5},
                                                        {5us, 500ns, 17},
                                                        {2us, 500ns, 105},
                                                        {1us, 500ns, 128},
                                                        {10us, 1us, 17},
                                                        {1ns, 0ns, 1},
                                                        {1ns, -1ns, 1},
                                                        {0ns, 500ns, 128},
                                                        {nan, 500ns, 128}}) {
    CAPTURE(run.count());
    CAPTURE(tick.count());
    CHECK(runs_per_sample(run, tick) == runs);
  }
}

/// Runs until it is finished, 1 ms of wall-clock time each; returns the runs.
template <class Time>
std::size_t runs_until_finished(warm_up_detector& device, Time&& time) {
  while (!device.finished()) {
    const std::vector<run_time> times{run_time(time(device.runs()))};
    device.add(times, 1ms);
  }
  return device.runs();
}

TEST_CASE("a steady device has warmed up after the least time") {
  warm_up_detector device;
  CHECK(runs_until_finished(device, [](std::size_t) { return 100.0; }) == 20);
  CHECK(device.converged());
}

TEST_CASE("a clock that rises is waited for") {
  warm_up_detector device;
  const std::size_t runs = runs_until_finished(
      device, [](std::size_t run) { return 100 * (1 + 0.3 * std::exp(-double(run) / 30)); });
  CHECK(device.converged());
  // By then the rest of the way is less than 4 % of the time.
  CHECK(runs > 60);
  CHECK(runs < 200);
}

TEST_CASE("noise is not mistaken for a movement") {
  tune::testing::simulated_chance chance(5);
  int converged = 0;
  for (int i = 0; i < 100; ++i) {
    warm_up_detector device;
    runs_until_finished(device,
                        [&](std::size_t) { return 100 * std::exp(0.03 * chance.normal()); });
    converged += device.converged() ? 1 : 0;
  }
  CHECK(converged == 100);
}

TEST_CASE("a clock that stands still does not prolong the warm-up for ever") {
  warm_up_detector device;
  const std::vector<run_time> times{run_time(100)};
  while (!device.finished()) device.add(times, 0ms);
  CHECK(device.runs() == tune::warm_up_settings{}.most_runs);
}

TEST_CASE("a device that never becomes steady has its time limit") {
  warm_up_detector device({.time_limit = 300ms});
  CHECK(runs_until_finished(device, [](std::size_t run) { return 100.0 + double(run); }) == 300);
  CHECK_FALSE(device.converged());
}

TEST_CASE("invalid times never converge") {
  warm_up_detector device({.time_limit = 50ms});
  runs_until_finished(device, [](std::size_t) { return 0.0; });
  CHECK_FALSE(device.converged());
}

TEST_CASE("warm-up settings that make no sense are errors") {
  CHECK_THROWS_AS(warm_up_detector({.group = 0}), tune::argument_error);
  CHECK_THROWS_AS(warm_up_detector({.medians = 1}), tune::argument_error);
  CHECK_THROWS_AS(warm_up_detector({.tolerance = -1}), tune::argument_error);
}

}  // namespace stopping_test
