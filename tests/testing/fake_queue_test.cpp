// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_queue.hpp"

#include <array>
#include <doctest/doctest.h>
#include <optional>
#include <stdexcept>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/testing/refusals.hpp"

namespace fake_queue_test {

using std::chrono::nanoseconds;
using tune::device_failure;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::fake_kernel;
using tune::testing::fake_launch;
using tune::testing::fake_macros;

struct launch_bench {
  tune::testing::fake_device fake{{.limits = {.max_work_group_size = 64,
                                              .max_work_group_extent = {64, 32, 4},
                                              .local_memory_bytes = 1000,
                                              .global_memory_bytes = 1000,
                                              .max_allocation_bytes = 1000}}};
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();

  tune::kernel make(fake_kernel kernel, const std::string& text = {}) const {
    fake.add_kernel("k", std::move(kernel));
    return context.create_program({.name = "p", .text = text, .options = {}}).create_kernel("k");
  }

  void check_refused(tune::kernel& kernel, const tune::nd_range& range) {
    tune::testing::check_refused([&] { queue.enqueue(kernel, range); }, device_failure::over_limit);
  }
};

TEST_CASE_FIXTURE(launch_bench,
                  "a work group over a limit, in all or along one axis, is refused as such") {
  tune::kernel kernel = make({});
  CHECK_NOTHROW(queue.enqueue(kernel, {{64}, {64}}));
  CHECK_NOTHROW(queue.enqueue(kernel, {{16, 1, 4}, {16, 1, 4}}));
  check_refused(kernel, {{65}, {65}});
  check_refused(kernel, {{33, 2}, {33, 2}});
  check_refused(kernel, {{1, 33}, {1, 33}});
  check_refused(kernel, {{1, 1, 5}, {1, 1, 5}});
  CHECK(fake.launches().size() == 2);
}

TEST_CASE_FIXTURE(launch_bench, "a kernel's own limit counts too") {
  tune::kernel kernel = make({.parameters = {}, .run = {}, .max_work_group_size = 8});
  CHECK_NOTHROW(queue.enqueue(kernel, {{8}, {8}}));
  check_refused(kernel, {{16}, {16}});
}

TEST_CASE_FIXTURE(launch_bench, "local memory over the limit is refused as such") {
  const fake_kernel kernel{
      .parameters = {}, .run = {}, .local_memory_bytes = [](const fake_macros& macros) {
        return static_cast<std::size_t>(macros.integer("bytes"));
      }};
  tune::kernel fits = make(kernel, "#define bytes 1000");
  CHECK_NOTHROW(queue.enqueue(fits, {}));
  tune::kernel large = make(kernel, "#define bytes 1001");
  check_refused(large, {});
}

TEST_CASE_FIXTURE(launch_bench, "a launch that fails when told does not run") {
  int runs = 0;
  tune::kernel kernel = make({.parameters = {}, .run = [&](fake_launch&) { ++runs; }});
  fake.fail_next(fake_call::launch, 2, {.failure = device_failure::over_limit});
  queue.enqueue(kernel, {});
  check_refused(kernel, {});
  CHECK(runs == 1);
}

TEST_CASE_FIXTURE(launch_bench, "copies, fills and waits fail when told") {
  const tune::buffer buffer = context.create_buffer(4);
  int value = 0;
  fake.fail_next(fake_call::copy);
  CHECK_THROWS_AS(queue.write(buffer, &value, 4), tune::device_error);
  fake.fail_next(fake_call::fill);
  CHECK_THROWS_AS(queue.zero(buffer, 4), tune::device_error);
  fake.fail_next(fake_call::finish);
  CHECK_THROWS_AS(queue.finish(), tune::device_error);
  CHECK_NOTHROW(queue.finish());
}

TEST_CASE_FIXTURE(launch_bench, "what a host function throws leaves the launch") {
  tune::kernel kernel = make(
      {.parameters = {}, .run = [](fake_launch&) { throw std::runtime_error("from the kernel"); }});
  CHECK_THROWS_WITH_AS(queue.enqueue(kernel, {}), "from the kernel", std::runtime_error);
  CHECK(fake.launches().empty());
}

struct event_bench {
  event_bench() { fake.add_kernel("k", 0, nullptr); }

  tune::event launch(std::size_t items) {
    return queue.enqueue_with_event(kernel(), {{items}, {1}});
  }
  tune::kernel& kernel() {
    if (!kernel_) kernel_.emplace(context.create_program({"p", "", {}}).create_kernel("k"));
    return *kernel_;
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue({.profiling = true});
  std::optional<tune::kernel> kernel_;
};

TEST_CASE_FIXTURE(event_bench, "a launch takes the time that was set for it") {
  CHECK(launch(1).duration() == nanoseconds{1000});
  fake.set_time([](const fake_launch& launch) { return nanoseconds(launch.range().global.x); });
  CHECK(launch(7).duration() == nanoseconds{7});
  fake.set_time(nullptr);
  CHECK(launch(7).duration() == nanoseconds{1000});
}

TEST_CASE_FIXTURE(event_bench,
                  "times that cannot be are reported, but the clock does not go back") {
  fake.set_time([](const fake_launch&) { return nanoseconds{-5}; });
  kernel();  // compiling takes time too
  const auto before = fake.now();
  CHECK(launch(1).duration() == nanoseconds{-5});
  CHECK(fake.now() == before);
  fake.set_time([](const fake_launch&) { return nanoseconds{0}; });
  CHECK(launch(1).duration() == nanoseconds{0});
  CHECK(fake.now() == before);
}

TEST_CASE_FIXTURE(event_bench, "events know how far they are apart, over queues too") {
  const tune::event first = launch(1);
  fake.advance(nanoseconds{300});
  const tune::event second = launch(1);
  tune::command_queue other = context.create_command_queue({.profiling = true});
  const tune::event marker = other.enqueue_marker();
  CHECK(second.time_since(first) == nanoseconds{300});
  CHECK(first.time_till(second) == nanoseconds{300});
  CHECK(marker.time_since(first) == nanoseconds{1300});
  CHECK(marker.duration() == nanoseconds{0});
}

TEST_CASE_FIXTURE(event_bench, "waiting fails when told") {
  const tune::event event = launch(1);
  fake.fail_next(tune::testing::fake_call::finish);
  CHECK_THROWS_AS(event.wait(), tune::device_error);
  CHECK_NOTHROW(event.wait());
}

tune::kernel make_counting(const fake_device& fake, const tune::context& context) {
  fake.add_kernel("count", 2, [](tune::testing::fake_launch& launch) {
    launch.buffer<int>(0)[0] += launch.argument<int>(1);
  });
  return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("count");
}

TEST_CASE("a captured launch counts as a call once, and as a launch whenever its graph runs") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  tune::kernel count = make_counting(fake, context);
  const tune::buffer data = context.create_buffer(sizeof(int));
  queue.zero(data, sizeof(int));
  count.set_arguments(data, 5);
  const auto before = fake.now();
  const auto graph = queue.capture([&] { queue.enqueue(count, {}); });
  REQUIRE(graph);
  CHECK(fake.now() == before);
  CHECK(fake.calls(fake_call::capture) == 1);
  CHECK(fake.calls(fake_call::launch) == 1);
  CHECK(fake.launches().empty());
  queue.enqueue(*graph);
  queue.enqueue(*graph);
  CHECK(fake.now() - before == nanoseconds{2000});
  CHECK(fake.calls(fake_call::launch) == 1);
  CHECK(fake.calls(fake_call::launch_graph) == 2);
  CHECK(fake.launches().size() == 2);
  int value = 0;
  queue.read(data, &value, sizeof value);
  CHECK(value == 10);
}

TEST_CASE("a captured fill keeps its pattern") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer data = context.create_buffer(8);
  const auto graph = queue.capture([&] {
    const std::array<int, 1> pattern{77};
    queue.fill(data, 8, std::as_bytes(std::span(pattern)));
  });
  REQUIRE(graph);
  queue.enqueue(*graph);
  std::array<int, 2> values{};
  queue.read(data, values.data(), 8);
  CHECK(values == std::array<int, 2>{77, 77});
}

TEST_CASE("a fake device may be one without graphs") {
  const fake_device fake({.command_graphs = false});
  CHECK_FALSE(fake.device().info().command_graphs);
  tune::command_queue queue = fake.device().create_context().create_command_queue();
  CHECK_FALSE(queue.capture([] { FAIL_CHECK("called"); }).has_value());
  CHECK(fake.calls(fake_call::capture) == 0);
}

}  // namespace fake_queue_test
