// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/measure/recorded_queue.hpp"

namespace measurement_test {

using namespace std::chrono_literals;
using tune::run_time;

/// A clock that stands still unless it is moved.
struct manual_clock {
  std::chrono::steady_clock::time_point now{};

  tune::wall_clock reader() {
    return [this] { return now; };
  }
};

/// Runs that take both device time and as much wall time.
struct timed_operation {
  manual_clock clock;
  tune::testing::recorded_queue device;
  std::chrono::nanoseconds duration = 1ms;
  int runs = 0;

  tune::measure make() {
    return tune::make_measure(device.queue, [this] {
      ++runs;
      device.launch(duration);
      clock.now += duration;
    });
  }
};

TEST_CASE("the first timed run plans the others and is no sample itself") {
  timed_operation operation;
  tune::measure measured = operation.make();
  const auto samples = tune::take_samples(measured, {}, operation.clock.reader());
  CHECK(samples.size() == 100);
  CHECK(operation.runs == 101);
  CHECK(samples.median() == 1ms);
  CHECK(samples.spread() == 0ns);
}

TEST_CASE("a slow configuration is measured the minimum number of times") {
  timed_operation operation;
  operation.duration = 5s;
  tune::measure measured = operation.make();
  const auto samples = tune::take_samples(measured, {}, operation.clock.reader());
  CHECK(samples.size() == 3);
  CHECK(operation.runs == 4);
}

TEST_CASE("the time limit ends a configuration that became slower") {
  timed_operation operation;
  tune::measure measured = operation.make();
  measured.reset([&] {
    if (operation.runs == 1) operation.duration = 20ms;
  });
  const auto samples = tune::take_samples(measured, {}, operation.clock.reader());
  CHECK(samples.size() == 13);
  CHECK(samples.median() == 20ms);
}

TEST_CASE("a slow reset counts towards the time limit but not towards the plan or the samples") {
  timed_operation operation;
  tune::measure measured = operation.make();
  measured.reset([&] { operation.clock.now += 30ms; });
  const auto samples = tune::take_samples(measured, {}, operation.clock.reader());
  // Of 100 planned runs in batches of 13, each of which takes 43 ms with its reset.
  CHECK(samples.size() == 39);
  CHECK(samples.median() == 1ms);
}

TEST_CASE("a function that times itself is sampled once for each batch") {
  manual_clock clock;
  std::vector<int> calls;
  tune::measure measured = tune::make_measure([&](int iterations) {
    calls.push_back(iterations);
    clock.now += 10ms * iterations;
    return 0.01;
  });
  const auto samples = tune::take_samples(measured, {}, clock.reader());
  CHECK(calls == std::vector{1, 3, 2, 2, 2, 1});
  CHECK(samples.size() == 5);
  CHECK(samples.median() == 10ms);
}

TEST_CASE("a configuration whose time is NaN is measured and does not win") {
  manual_clock clock;
  tune::measure measured =
      tune::make_measure([](int) { return std::numeric_limits<double>::quiet_NaN(); });
  const auto samples = tune::take_samples(measured, {.max_iterations = 10}, clock.reader());
  CHECK(samples.size() > 0);
  CHECK_FALSE(tune::score(samples));
}

TEST_CASE("the settings decide how much is measured") {
  timed_operation operation;
  tune::measure measured = operation.make();
  const auto take = [&](const tune::measure_settings& settings) {
    return tune::take_samples(measured, settings, operation.clock.reader()).size();
  };
  CHECK(take({.time_limit = 10ms}) == 10);
  CHECK(take({.max_iterations = 20}) == 20);
  CHECK(take({.time_limit = 0ns, .min_iterations = 5}) == 5);
  CHECK_THROWS_AS(take({.min_iterations = 0}), tune::argument_error);
}

TEST_CASE("short runs are batched where the timer is coarse") {
  tune::testing::fake_device_options options;
  options.limits.timer_resolution_ns = 500;
  options.times.kernel = 2us;
  const tune::testing::fake_device device(options);
  device.add_kernel("work", {});
  const tune::context context = device.device().create_context();
  tune::tuning_command_queue queue = context.create_tuning_command_queue();
  tune::kernel work =
      context.create_program({.name = "work.cl", .text = "", .options = {}}).create_kernel("work");
  tune::measure measured = tune::make_measure(queue, [&] { queue.enqueue(work, {}); });
  CHECK(measured.timer_resolution() == 500ns);
  const auto samples = tune::take_samples(measured, {.max_iterations = 10}, device.clock());
  CHECK(samples.size() == 10);
  CHECK(samples.median() == 2us);
  CHECK(device.launches().size() == 1 + 10 * 105);
}

TEST_CASE("a device that idled is warmed up until its runs take the same") {
  timed_operation operation;
  tune::measure measured = tune::make_measure(operation.device.queue, [&] {
    const auto time = operation.runs++ < 40 ? 2ms : 1ms;
    operation.device.launch(time);
    operation.clock.now += time;
  });
  const auto report = tune::warm_up(measured, {.at_least = 90ms}, operation.clock.reader());
  CHECK(report.converged);
  CHECK(report.runs == 60);
}

TEST_CASE("a skipped configuration cannot be measured") {
  tune::measure skipped = nullptr;
  CHECK_THROWS_AS(tune::take_samples(skipped), tune::argument_error);
}

}  // namespace measurement_test
