// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/iteration_plan.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/error.hpp"

namespace iteration_plan_test {

using namespace std::chrono_literals;
using tune::iteration_plan;
using tune::run_time;

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
}

TEST_CASE("the larger of device time and wall time counts") {
  CHECK(planned(1ms, 2ms) == 50);
  CHECK(planned(2ms, 1ms) == 50);
}

TEST_CASE("a run counts as a microsecond at least") {
  CHECK(iteration_plan({.time_limit = 10us}, 1ns, 1ns).planned() == 10);
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

}  // namespace iteration_plan_test
