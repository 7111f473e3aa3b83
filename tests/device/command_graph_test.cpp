// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/queue_interface.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fake_device.hpp"

namespace command_graph_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;

struct bench {
  bench() { fake.add_kernel("k", 1, nullptr); }

  tune::kernel make_kernel(std::size_t bytes) const {
    tune::kernel made =
        context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
    made.set_arguments(context.create_buffer(bytes));
    return made;
  }
  tune::command_graph capture(tune::kernel& kernel) {
    const auto graph = queue.capture([&] { queue.enqueue(kernel, {}); });
    REQUIRE(graph);
    return *graph;
  }

  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::command_queue queue = context.create_command_queue();
};

TEST_CASE_FIXTURE(bench, "launching a graph is one call and allocates nothing") {
  tune::kernel kernel = make_kernel(8);
  const tune::buffer buffer = context.create_buffer(8);
  const auto graph = queue.capture([&] {
    queue.enqueue(kernel, {});
    queue.zero(buffer, 8);
    queue.enqueue(kernel, {});
  });
  REQUIRE(graph);
  const std::size_t launched = fake.calls(fake_call::launch);
  const tune::testing::allocation_counter counter;
  for (int i = 0; i < 10; ++i) queue.enqueue(*graph);
  CHECK(counter.count() == 0);
  CHECK(fake.calls(fake_call::launch_graph) == 10);
  CHECK(fake.calls(fake_call::launch) == launched);
  CHECK(fake.launches().size() == 20);
}

TEST_CASE_FIXTURE(bench, "capturing costs a plain launch no allocation before or after") {
  tune::kernel kernel = make_kernel(8);
  capture(kernel);
  const tune::testing::allocation_counter counter;
  queue.enqueue(kernel, {});
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(bench, "a graph keeps its buffers, and lets them go with its last handle") {
  std::optional<tune::command_graph> graph;
  {
    tune::kernel kernel = make_kernel(100);
    graph = queue.capture([&] {
      queue.enqueue(kernel, {});
      queue.zero(context.create_buffer(20), 20);
      queue.impl()->copy({.source = {.buffer = context.create_buffer(3).impl().get()},
                          .destination = {.buffer = context.create_buffer(4).impl().get()},
                          .row_bytes = 3});
    });
  }
  CHECK(fake.live_bytes() == 127);
  const std::optional<tune::command_graph> copy = graph;
  graph.reset();
  CHECK(fake.live_bytes() == 127);
  queue.enqueue(*copy);
}

TEST_CASE_FIXTURE(bench, "a graph keeps what another library uses while it is captured") {
  auto used = std::make_shared<int>(3);
  const std::weak_ptr<int> watched = used;
  auto graph = queue.capture([&] {
    const std::array<std::shared_ptr<const void>, 1> kept{std::move(used)};
    queue.enqueue_foreign([] {}, kept);
  });
  REQUIRE(graph);
  CHECK_FALSE(watched.expired());
  graph.reset();
  CHECK(watched.expired());
}

TEST_CASE_FIXTURE(bench, "recording anew lets go of what is not used any more") {
  auto graph = [&] {
    tune::kernel first = make_kernel(100);
    return capture(first);
  }();
  CHECK(fake.live_bytes() == 100);
  {
    tune::kernel second = make_kernel(30);
    queue.recapture(graph, [&] { queue.enqueue(second, {}); });
  }
  CHECK(fake.live_bytes() == 30);
}

TEST_CASE_FIXTURE(bench, "a graph is recorded as one command that takes the time of all") {
  tune::kernel kernel = make_kernel(8);
  const tune::buffer buffer = context.create_buffer(8);
  tune::tuning_command_queue tuning = context.create_tuning_command_queue();
  const auto graph = tuning.capture([&] {
    tuning.enqueue(kernel, {});
    tuning.zero(buffer, 8);
  });
  REQUIRE(graph);
  tuning.start_recording();
  tuning.enqueue(*graph);
  CHECK(tuning.recorded() == 1);
  CHECK(tuning.stop_recording() == std::vector{nanoseconds{2000}});
}

TEST_CASE_FIXTURE(bench, "a capture needs something to call") {
  tune::kernel kernel = make_kernel(8);
  tune::command_graph graph = capture(kernel);
  CHECK_THROWS_AS(queue.capture(nullptr), tune::argument_error);
  CHECK_THROWS_AS(queue.recapture(graph, nullptr), tune::argument_error);
}

TEST_CASE_FIXTURE(bench, "a capture or a launch of a graph that fails harms nothing") {
  tune::kernel kernel = make_kernel(8);
  fake.fail_next(fake_call::capture);
  CHECK_THROWS_WITH_AS(queue.capture([] {}), doctest::Contains("capture of commands"),
                       tune::device_error);
  CHECK_FALSE(queue.is_capturing());
  const tune::command_graph graph = capture(kernel);
  fake.fail_next(fake_call::launch_graph);
  CHECK_THROWS_AS(queue.enqueue(graph), tune::device_error);
  CHECK_NOTHROW(queue.enqueue(graph));
  CHECK(fake.launches().size() == 1);
}

TEST_CASE_FIXTURE(bench, "a command that fails leaves the capture with its exception") {
  tune::kernel kernel = make_kernel(8);
  fake.fail_next(fake_call::launch);
  CHECK_THROWS_WITH_AS(capture(kernel), doctest::Contains("launch of kernel 'k'"),
                       tune::device_error);
  CHECK_NOTHROW(queue.finish());
  queue.enqueue(capture(kernel));
  CHECK(fake.launches().size() == 1);
}

TEST_CASE_FIXTURE(bench, "handles are equal if they mean the same graph") {
  tune::kernel kernel = make_kernel(8);
  const tune::command_graph graph = capture(kernel);
  const tune::command_graph copy = graph;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy == graph);
  CHECK_FALSE(graph == capture(kernel));
}

}  // namespace command_graph_test
