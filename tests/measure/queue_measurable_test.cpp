// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/queue_measurable.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/measure/measure.hpp"
#include "tests/measure/recorded_queue.hpp"

namespace queue_measurable_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::testing::recorded_queue;

TEST_CASE("the time of a run is the sum over the commands of that run") {
  recorded_queue fixture;
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
  recorded_queue fixture;
  int runs = 0;
  tune::measure measured =
      tune::make_measure(fixture.queue, [&] { fixture.launch(10ns * ++runs); });
  CHECK(measured.sample(2, 3) == std::vector<run_time>{run_time(20), run_time(50)});
  CHECK(runs == 6);
}

TEST_CASE("a run that nobody times records nothing and waits for its end") {
  recorded_queue fixture;
  tune::measure measured = tune::make_measure(fixture.queue, [&] { fixture.launch(1ns); });
  measured.run();
  CHECK(fixture.script.launches == 1);
  CHECK(fixture.script.finishes == 1);
  CHECK(fixture.queue.recorded() == 0);
}

TEST_CASE("what the reset enqueues is waited for and is no part of the samples") {
  recorded_queue fixture;
  tune::measure measured = tune::make_measure(fixture.queue, [&] {
                             fixture.launch(7ns);
                           }).reset([&] { fixture.launch(1h); });
  measured.prepare();
  CHECK(fixture.script.finishes == 1);
  CHECK(measured.sample(2) == std::vector<run_time>{run_time(7), run_time(7)});
  CHECK(fixture.script.launches == 3);
}

TEST_CASE("an operation that can only be moved is kept for as long as the measure") {
  recorded_queue fixture;
  struct operation {
    std::unique_ptr<int> alive;
    recorded_queue* queue;
    void operator()() { queue->launch(std::chrono::nanoseconds(*alive)); }
  };
  tune::measure measured =
      tune::make_measure(fixture.queue, operation{std::make_unique<int>(5), &fixture});
  CHECK(measured.sample(1) == std::vector<run_time>{run_time(5)});
}

TEST_CASE("an operation that enqueues nothing on the queue is an error that says so") {
  recorded_queue fixture;
  recorded_queue other;
  int runs = 0;
  tune::measure elsewhere = tune::make_measure(fixture.queue, [&] { other.launch(1ns); });
  tune::measure sometimes = tune::make_measure(fixture.queue, [&] {
    if (++runs == 1) fixture.launch(1ns);
  });
  CHECK_THROWS_WITH_AS(elsewhere.sample(2),
                       doctest::Contains("enqueued no kernel on the queue of make_measure"),
                       tune::argument_error);
  CHECK_THROWS_AS(sometimes.sample(2), tune::argument_error);
}

TEST_CASE("an operation that throws leaves a queue that can be used again") {
  recorded_queue fixture;
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
  recorded_queue fixture;
  CHECK_THROWS_AS(tune::make_measure(fixture.queue, std::function<void()>()), tune::argument_error);
}

}  // namespace queue_measurable_test
