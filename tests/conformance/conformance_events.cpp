// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

using std::chrono::nanoseconds;

constexpr nd_range range{{4096}, {16}};
constexpr std::size_t busy_bytes = 4096 * sizeof(float);

kernel make_busy(conformance_bench& bench, int rounds) {
  kernel busy = bench.program.create_kernel("busy");
  const buffer data = bench.context.create_buffer(busy_bytes);
  bench.queue.zero(data, busy_bytes);
  busy.set_arguments(data, rounds);
  return busy;
}

void a_launch_takes_time(const device& device) {
  conformance_bench bench(device, true);
  kernel busy = make_busy(bench, 100);
  const event event = bench.queue.enqueue_with_event(busy, range);
  CHECK(event.duration() > nanoseconds{0});
  event.wait();
  CHECK(event.is_complete());
}

void commands_follow_each_other(const device& device) {
  conformance_bench bench(device, true);
  kernel busy = make_busy(bench, 100);
  const event first = bench.queue.enqueue_with_event(busy, range);
  const event second = bench.queue.enqueue_with_event(busy, range);
  const event third = bench.queue.enqueue_with_event(busy, range);
  CHECK(second.time_since(first) >= nanoseconds{0});
  CHECK(third.time_since(first) >= second.duration());
  CHECK(first.time_since(third) < nanoseconds{0});
}

void markers(const device& device) {
  conformance_bench bench(device, true);
  kernel busy = make_busy(bench, 100);
  const event before = bench.queue.enqueue_marker();
  const event launch = bench.queue.enqueue_with_event(busy, range);
  const event after = bench.queue.enqueue_marker();
  after.wait();
  CHECK(launch.is_complete());
  CHECK(before.is_complete());
  CHECK(after.duration() == nanoseconds{0});
  CHECK(after.time_since(before) >= launch.duration());
}

void without_profiling(const device& device) {
  conformance_bench bench(device);
  kernel busy = make_busy(bench, 1);
  const event first = bench.queue.enqueue_with_event(busy, range);
  const event second = bench.queue.enqueue_with_event(busy, range);
  second.wait();
  CHECK(first.is_complete());
  CHECK_THROWS_AS(first.duration(), device_error);
  CHECK_THROWS_AS(second.time_since(first), device_error);
}

void queues_wait_for_each_other(const device& device) {
  conformance_bench bench(device);
  command_queue reader = bench.context.create_command_queue();
  kernel add = bench.program.create_kernel("add");
  kernel busy = make_busy(bench, 100'000);
  const buffer data = bench.integers(64, 0);
  add.set_arguments(data, 3);
  bench.queue.enqueue(busy, range);
  const event added = bench.queue.enqueue_with_event(add, {{64}, {16}});
  bench.queue.flush();
  reader.wait_for({added, bench.queue.enqueue_marker()});
  std::vector<std::int32_t> values(64);
  reader.read(data, values.data(), 64 * sizeof(std::int32_t));
  CHECK(values == std::vector<std::int32_t>(64, 3));
  CHECK(added.is_complete());
  CHECK_NOTHROW(reader.wait_for({}));
}

void recording(const device& device) {
  conformance_bench bench(device);
  tuning_command_queue queue = bench.context.create_tuning_command_queue();
  kernel busy = make_busy(bench, 100);
  bench.queue.finish();
  const buffer data = bench.integers(16, 1);
  queue.enqueue(busy, range);
  CHECK(queue.recorded() == 0);

  queue.start_recording();
  queue.enqueue(busy, range);
  queue.zero(data, 64);
  const event kept = queue.enqueue_with_event(busy, range);
  const std::vector<std::int32_t> values(16, 2);
  queue.write(data, values.data(), 64);
  CHECK(queue.recorded() == 3);
  const std::vector<nanoseconds> times = queue.stop_recording();
  REQUIRE(times.size() == 3);
  CHECK(times[0] > nanoseconds{0});
  CHECK(times[1] >= nanoseconds{0});
  CHECK(times[2] == kept.duration());

  CHECK(queue.recorded() == 0);
  queue.enqueue(busy, range);
  CHECK(queue.recorded() == 0);
  queue.start_recording();
  CHECK(queue.stop_recording().empty());
}

void plain_queues_do_not_record(const device& device) {
  const context context = device.create_context();
  tuning_command_queue queue(context.create_command_queue().impl());
  CHECK_THROWS_AS(queue.start_recording(), argument_error);
}

constexpr requirement requirements[] = {
    {"a launch takes device time, known by its event", a_launch_takes_time},
    {"the commands of a queue follow each other in time", commands_follow_each_other},
    {"a marker ends after all before it, and takes no time", markers},
    {"a queue without profiling has events but no times", without_profiling},
    {"a queue waits for the events of another", queues_wait_for_each_other},
    {"a tuning queue records the time of each launch and fill", recording},
    {"a queue that was not made for tuning refuses to record", plain_queues_do_not_record},
};

}  // namespace

std::span<const requirement> event_requirements() { return requirements; }

}  // namespace tune::testing
