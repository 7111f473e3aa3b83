// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/measurable.hpp"

#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/measure/timed_queue.hpp"

namespace measurable_test {

using namespace std::chrono_literals;
using tune::run_time;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::timed_queue;

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

}  // namespace measurable_test
