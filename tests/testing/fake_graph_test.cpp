// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_graph.hpp"

#include <array>
#include <doctest/doctest.h>

#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/testing/fake_device.hpp"

namespace fake_graph_test {

using std::chrono::nanoseconds;
using tune::testing::fake_call;
using tune::testing::fake_device;

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

}  // namespace fake_graph_test
