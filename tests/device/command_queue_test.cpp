// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/command_queue.hpp"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace command_queue_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;
using tune::testing::fake_device;

struct bench {
  bench() : context(fake.device().create_context()), queue(context.create_command_queue()) {
    fake.add_kernel("k", 0, nullptr);
  }
  tune::kernel make_kernel() const {
    return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
  }

  fake_device fake;
  tune::context context;
  tune::command_queue queue;
};

TEST_CASE_FIXTURE(bench, "enqueueing a kernel allocates nothing") {
  tune::kernel kernel = make_kernel();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 100; ++i) queue.enqueue(kernel, {{64}, {32}});
  CHECK(counter.count() == 0);
  CHECK(fake.launches().size() == 100);
}

TEST_CASE_FIXTURE(bench, "copies and fills allocate nothing") {
  const tune::buffer buffer = context.create_buffer(64);
  std::array<std::byte, 64> host{};
  const tune::testing::allocation_counter counter;
  queue.write(buffer, host.data(), host.size());
  queue.zero(buffer, 64);
  queue.fill(buffer, {.row_pitch_bytes = 16, .row_bytes = 12, .rows = 4},
             std::span(host).first(12));
  queue.read(buffer, host.data(), host.size());
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(bench, "an object of another context is refused, naming the queue's device") {
  tune::command_queue other = fake.device().create_context().create_command_queue();
  tune::kernel kernel = make_kernel();
  const tune::buffer buffer = context.create_buffer(8);
  std::int64_t value = 0;
  CHECK_THROWS_WITH_AS(other.enqueue(kernel, {}),
                       doctest::Contains("the kernel belongs to another"), tune::argument_error);
  CHECK_THROWS_WITH_AS(other.write(buffer, &value, 8), doctest::Contains("'fake device'"),
                       tune::argument_error);
  CHECK_THROWS_AS(other.zero(buffer, 8), tune::argument_error);
  CHECK(fake.calls(fake_call::launch) + fake.calls(fake_call::copy) + fake.calls(fake_call::fill) ==
        0);
}

TEST_CASE_FIXTURE(bench, "an indivisible launch never reaches the device") {
  tune::kernel kernel = make_kernel();
  CHECK_THROWS_AS(queue.enqueue(kernel, {{100}, {64}}), tune::device_error);
  CHECK_THROWS_AS(queue.enqueue_with_event(kernel, {{64}, {64, 0}}), tune::device_error);
  CHECK(fake.calls(fake_call::launch) == 0);
}

TEST_CASE_FIXTURE(bench, "clusters of work groups are refused where a device has none") {
  tune::kernel kernel = make_kernel();
  CHECK_THROWS_WITH_AS(queue.enqueue(kernel, {.global = {64}, .local = {16}, .cluster = 2}),
                       doctest::Contains("from compute capability 9.0 on"), tune::device_error);
  CHECK(fake.calls(fake_call::launch) == 0);
  CHECK_NOTHROW(queue.enqueue(kernel, {.global = {64}, .local = {16}, .cluster = 1}));
}

TEST_CASE_FIXTURE(bench, "a tuning queue returns the times of its launches and fills in order") {
  fake.set_time([](const tune::testing::fake_launch& launch) {
    return nanoseconds(10 * launch.range().global.x);
  });
  tune::kernel kernel = make_kernel();
  const tune::buffer buffer = context.create_buffer(8);
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  tuning.enqueue(kernel, {{2}, {1}});
  tuning.zero(buffer, 8);
  tuning.enqueue(kernel, {{3}, {1}});
  CHECK(tuning.recorded() == 3);
  CHECK(tuning.stop_recording() ==
        std::vector{nanoseconds{20}, nanoseconds{1000}, nanoseconds{30}});
  CHECK(tuning.recorded() == 0);
}

TEST_CASE_FIXTURE(bench, "a launch that fails leaves nothing in the record") {
  tune::kernel kernel = make_kernel();
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  tuning.start_recording();
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_AS(tuning.enqueue(kernel, {}), tune::device_error);
  tuning.enqueue(kernel, {});
  CHECK(tuning.stop_recording().size() == 1);
}

LIBTUNE_DEVICE_TEST_CASE("a fill allocates nothing once its kernel is there", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer buffer = context.create_buffer(4096);
  constexpr std::array<std::byte, 24> pattern{std::byte{1}};
  const tune::fill_region region{.row_pitch_bytes = 64, .row_bytes = 48, .rows = 4};
  queue.fill(buffer, region, pattern);
  queue.zero(buffer, 4096);
  queue.finish();
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) queue.fill(buffer, region, pattern);
  queue.zero(buffer, 4096);
  const auto allocations = counter.count();
  queue.finish();
  CHECK(allocations == 0);
}

}  // namespace command_queue_test
