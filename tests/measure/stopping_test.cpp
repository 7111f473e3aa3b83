// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/stopping.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/measurable.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/measure/simulated_search.hpp"
#include "tests/measure/timed_queue.hpp"

namespace stopping_test {

using namespace std::chrono_literals;
using tune::drift_monitor;
using tune::iteration_plan;
using tune::run_time;
using tune::samples;
using tune::warm_up_detector;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::timed_queue;

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

using enum tune::drift_verdict;
using verdicts = std::vector<tune::drift_verdict>;

constexpr double quiet = 0.001;

samples visit(double time) { return samples({run_time(time), run_time(time), run_time(time)}); }

/// Scores a sentinel at this time, and begins a block.
void open(drift_monitor& drift, double time) { drift.open(visit(time), quiet, run_time(time)); }

/// The verdict of the monitor on visits that take these times.
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

TEST_CASE("the time of a run is the sum over the commands of that run") {
  timed_queue fixture;
  int runs = 0;
  tune::measure measured = tune::make_measure(fixture.queue, [&] {
    ++runs;
    fixture.launch(10ns * runs);
    fixture.launch(1ns);
    if (runs == 2) fixture.launch(500ns);
  });
  CHECK(measured.sample(3) == std::vector<run_time>{run_time(11), run_time(521), run_time(31)});
  CHECK(measured.sample(1) == std::vector<run_time>{run_time(41)});
}

TEST_CASE("a sample of several runs is the mean of their times") {
  timed_queue fixture;
  int runs = 0;
  tune::measure measured =
      tune::make_measure(fixture.queue, [&] { fixture.launch(10ns * ++runs); });
  CHECK(measured.sample(2, 3) == std::vector<run_time>{run_time(20), run_time(50)});
  CHECK(runs == 6);
}

TEST_CASE("a run that nobody times records nothing and waits for its end") {
  timed_queue fixture;
  tune::measure measured = tune::make_measure(fixture.queue, [&] { fixture.launch(1ns); });
  measured.run();
  CHECK(fixture.launches() == 1);
  CHECK(fixture.device.calls(fake_call::finish) == 1);
  CHECK(fixture.queue.recorded() == 0);
}

TEST_CASE("what the reset enqueues is waited for and is no part of the samples") {
  timed_queue fixture;
  tune::measure measured = tune::make_measure(fixture.queue, [&] {
                             fixture.launch(7ns);
                           }).reset([&] { fixture.launch(1h); });
  measured.prepare();
  CHECK(fixture.device.calls(fake_call::finish) == 1);
  CHECK(measured.sample(2) == std::vector<run_time>{run_time(7), run_time(7)});
  CHECK(fixture.launches() == 3);
}

TEST_CASE("an operation that can only be moved is kept for as long as the measure") {
  timed_queue fixture;
  struct operation {
    std::unique_ptr<int> alive;
    timed_queue* queue;
    void operator()() { queue->launch(std::chrono::nanoseconds(*alive)); }
  };
  tune::measure measured =
      tune::make_measure(fixture.queue, operation{std::make_unique<int>(5), &fixture});
  CHECK(measured.sample(1) == std::vector<run_time>{run_time(5)});
}

TEST_CASE("an operation that enqueues nothing on the queue is an error that says so") {
  timed_queue fixture;
  timed_queue other;
  int runs = 0;
  tune::measure elsewhere = tune::make_measure(fixture.queue, [&] { other.launch(1ns); });
  tune::measure sometimes = tune::make_measure(fixture.queue, [&] {
    if (++runs == 1) fixture.launch(1ns);
  });
  CHECK_THROWS_WITH_AS(elsewhere.sample(2),
                       doctest::Contains("enqueued no kernel, fill or copy on the device"),
                       tune::argument_error);
  CHECK_THROWS_AS(sometimes.sample(2), tune::argument_error);
}

TEST_CASE("fills and copies on the device count, copies from and to the host do not") {
  timed_queue fixture;
  const tune::buffer data = fixture.queue.context().create_buffer(64);
  const tune::buffer other = fixture.queue.context().create_buffer(64);
  std::vector<std::byte> host(64);
  tune::measure measured = tune::make_measure(fixture.queue, [&] {
    fixture.queue.write(data, host.data(), 64);
    fixture.queue.copy(other, data, 64);
    fixture.launch(7ns);
    fixture.queue.zero(data, 64);
    fixture.queue.read(other, host.data(), 64);
  });
  CHECK(measured.sample(2) == std::vector<run_time>(2, run_time(1000 + 7 + 1000)));
}

LIBTUNE_DEVICE_TEST_CASE("an operation of nothing but copies has a time", device) {
  const tune::context context = device.create_context();
  tune::tuning_command_queue queue = context.create_tuning_command_queue();
  constexpr std::size_t bytes = std::size_t{8} << 20;
  const tune::buffer from = context.create_buffer(bytes);
  const tune::buffer to = context.create_buffer(bytes);
  queue.zero(from, bytes);
  tune::measure measured = tune::make_measure(queue, [&] { queue.copy(to, from, bytes); });
  for (const run_time time : measured.sample(3)) CHECK(time.count() > 0);
}

TEST_CASE("an operation that throws leaves a queue that can be used again") {
  timed_queue fixture;
  bool broken = true;
  tune::measure measured = tune::make_measure(fixture.queue, [&] {
    fixture.launch(3ns);
    if (broken) throw std::runtime_error("refused");
  });
  CHECK_THROWS_WITH_AS(measured.sample(1), "refused", std::runtime_error);
  CHECK(fixture.queue.recorded() == 0);
  fixture.launch(9ns);
  CHECK(fixture.queue.recorded() == 0);
  broken = false;
  CHECK(measured.sample(1) == std::vector<run_time>{run_time(3)});
}

TEST_CASE("a measure without an operation is an error") {
  timed_queue fixture;
  CHECK_THROWS_AS(tune::make_measure(fixture.queue, std::function<void()>()), tune::argument_error);
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// A device whose runs take 3 us and whose fills take a second.
struct flushed_device {
  timed_queue timed{{.limits = {.max_work_group_size = 1,
                                .max_work_group_extent = {1, 1, 1},
                                .global_memory_bytes = 64 * mebibyte,
                                .max_allocation_bytes = 32 * mebibyte,
                                .cache_bytes = mebibyte},
                     .times = {.fill = 1s}}};
  fake_device& device = timed.device;

  tune::measure make() {
    return tune::make_measure(timed.queue, [this] { timed.launch(3us); });
  }
};

TEST_CASE("a flush writes twice the cache, within what the device can give") {
  CHECK(tune::detail::flush_bytes({.cache_bytes = 50 * mebibyte}) == 100 * mebibyte);
  CHECK(tune::detail::flush_bytes({}) == 256 * mebibyte);
  CHECK(tune::detail::flush_bytes({.global_memory_bytes = 800 * mebibyte}) == 100 * mebibyte);
  CHECK(tune::detail::flush_bytes({.max_allocation_bytes = 10 * mebibyte}) == 10 * mebibyte);
}

TEST_CASE("before each timed run of a cold cache there is a flush that does not count") {
  flushed_device fixture;
  tune::measure measured = fixture.make();
  measured.cache(tune::cache_state::cold);
  CHECK(measured.sample(4) == std::vector<run_time>(4, 3us));
  CHECK(fixture.device.calls(fake_call::fill) == 4);
  measured.run();
  CHECK(fixture.device.calls(fake_call::fill) == 4);
  measured.cache(tune::cache_state::warm);
  CHECK(measured.sample(4).size() == 4);
  CHECK(fixture.device.calls(fake_call::fill) == 4);
}

TEST_CASE("the settings of a measurement say whether the cache is cold") {
  flushed_device fixture;
  tune::measure measured = fixture.make();
  const auto taken = tune::take_samples(
      measured, {.time_limit = 0ns, .cache = tune::cache_state::cold}, fixture.device.clock());
  CHECK(taken.median() == 3us);
  CHECK(fixture.device.calls(fake_call::fill) == 1 + taken.size());
}

TEST_CASE("the flushes of a context share their memory, which goes with the last of them") {
  flushed_device fixture;
  {
    tune::measure first = fixture.make();
    tune::measure second = fixture.make();
    first.cache(tune::cache_state::cold);
    second.cache(tune::cache_state::cold);
    CHECK(fixture.device.live_bytes() == 2 * mebibyte);
  }
  CHECK(fixture.device.live_bytes() == 0);
}

}  // namespace stopping_test
