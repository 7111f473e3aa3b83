// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

using values = std::vector<std::int32_t>;

constexpr nd_range range{{64}, {16}};
constexpr std::size_t bytes = 64 * sizeof(std::int32_t);

// Kernels of several arguments, fills of a range and of regions, and copies in both directions.
struct graph_bench : conformance_bench {
  explicit graph_bench(const device& device)
      : conformance_bench(device),
        add(program.create_kernel("add")),
        reverse(program.create_kernel("reverse")),
        sum(integers(64, 0)),
        seed(context.create_buffer(bytes)),
        host(context.create_pinned_memory(2 * bytes)) {
    for (std::size_t i = 0; i < 64; ++i) input()[i] = static_cast<std::int32_t>(i);
    queue.finish();
  }

  std::span<std::int32_t> input() { return {static_cast<std::int32_t*>(host.data()), 64}; }
  std::span<std::int32_t> output() { return {input().data() + 64, 64}; }

  void enqueue_all(command_queue& target) {
    target.write(seed, input().data(), bytes, 0, false);
    reverse.set_arguments(seed);
    target.enqueue(reverse, {{64}, {reverse_group}});
    const std::array<std::int32_t, 4> pattern{1, 2, 3, 4};
    target.fill(seed, bytes / 2, std::as_bytes(std::span(pattern)));
    target.fill(seed,
                {.offset_bytes = bytes / 2, .row_pitch_bytes = 16, .row_bytes = 12, .rows = 3},
                std::as_bytes(std::span(pattern)).first(12));
    target.zero(seed, {.offset_bytes = 16, .row_pitch_bytes = 32, .row_bytes = 4, .rows = 4});
    for (const int amount : {10, 200}) {
      add.set_arguments(seed, amount);
      target.enqueue(add, range);
    }
    add.set_arguments(sum, 1);
    target.enqueue(add, range);
    target.read(seed, output().data(), bytes, 0, false);
  }
  std::optional<command_graph> capture() {
    return queue.capture([this] { enqueue_all(queue); });
  }
  values sums() { return read<std::int32_t>(sum); }

  kernel add;
  kernel reverse;
  buffer sum;
  buffer seed;
  pinned_memory host;
};

/// Checks that a device without graphs says so, and calls nothing; true if the device has them.
bool has_graphs(const device& device) {
  if (device.info().command_graphs) return true;
  conformance_bench bench(device);
  const auto graph = bench.queue.capture([] { FAIL_CHECK("enqueued where nothing can capture"); });
  CHECK_FALSE(graph.has_value());
  CHECK_FALSE(bench.queue.is_capturing());
  return false;
}

values plain_result(const device& device) {
  graph_bench bench(device);
  bench.enqueue_all(bench.queue);
  bench.queue.finish();
  return {bench.output().begin(), bench.output().end()};
}

// Also what a program does that does not care which devices have graphs.
void same_result(const device& device) {
  graph_bench bench(device);
  has_graphs(device);
  const std::optional<command_graph> graph = bench.capture();
  CHECK(graph.has_value() == device.info().command_graphs);
  for (int runs = 1; runs <= 3; ++runs) {
    if (graph) {
      bench.queue.enqueue(*graph);
    } else {
      bench.enqueue_all(bench.queue);
    }
    CHECK(bench.sums() == values(64, runs));
    CHECK(values(bench.output().begin(), bench.output().end()) == plain_result(device));
  }
}

void captured_is_not_run(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  bool was_capturing = false;
  const auto graph = bench.queue.capture([&] {
    bench.enqueue_all(bench.queue);
    bench.queue.flush();
    was_capturing = bench.queue.is_capturing();
  });
  CHECK(was_capturing);
  CHECK_FALSE(bench.queue.is_capturing());
  CHECK(bench.sums() == values(64, 0));
  bench.add.set_arguments(bench.sum, 5);
  bench.queue.enqueue(bench.add, range);
  CHECK(bench.sums() == values(64, 5));
}

void what_was_captured_stays(const device& device) {
  if (!has_graphs(device)) return;
  conformance_bench bench(device);
  const buffer data = bench.integers(64, 0);
  std::optional<command_graph> graph;
  {
    const program program = build_conformance_program(bench.context);
    kernel add = program.create_kernel("add");
    kernel unheld = program.create_kernel("add");
    unheld.set_arguments(bench.integers(64, 0), 1);
    add.set_arguments(data, 3);
    graph = bench.queue.capture([&] {
      bench.queue.enqueue(add, range);
      bench.queue.enqueue(unheld, range);
      // Memory that comes or goes meanwhile disturbs nothing.
      bench.queue.zero(bench.context.create_buffer(bytes), bytes);
      bench.context.create_buffer(bytes);
    });
    add.set_arguments(bench.integers(64, 0), 1000);
  }
  bench.queue.enqueue(*graph);
  bench.queue.enqueue(*graph);
  CHECK(bench.read<std::int32_t>(data) == values(64, 6));
  bench.queue.enqueue(*graph);
  graph.reset();
  CHECK(bench.read<std::int32_t>(data) == values(64, 9));
}

void copies_read_host_memory_anew(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  const auto graph = bench.queue.capture(
      [&] { bench.queue.write(bench.sum, bench.input().data(), bytes, 0, false); });
  for (const int value : {7, -8}) {
    std::ranges::fill(bench.input(), value);
    bench.queue.enqueue(*graph);
    CHECK(bench.sums() == values(64, value));
  }
}

void exceptions_pass(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  const auto failing = [&] {
    bench.enqueue_all(bench.queue);
    throw std::runtime_error("in the middle");
  };
  CHECK_THROWS_WITH_AS(bench.queue.capture(failing), "in the middle", std::runtime_error);
  CHECK_FALSE(bench.queue.is_capturing());
  auto graph = bench.capture();
  REQUIRE(graph);
  CHECK_THROWS_AS(bench.queue.recapture(*graph, failing), std::runtime_error);
  CHECK(bench.sums() == values(64, 0));
  bench.queue.enqueue(*graph);
  CHECK(bench.sums() == values(64, 1));
}

void check_refused(const device& device, const char* what, const std::function<void()>& command) {
  CAPTURE(what);
  try {
    command();
    FAIL_CHECK("was not refused");
  } catch (const device_error& failure) {
    const std::string text = failure.what();
    INFO(text);
    CHECK(text.find(what) == 0);
    CHECK(failure.device() == device.name());
  }
}

void refusals(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  command_queue& queue = bench.queue;
  const auto inner = bench.capture();
  const event before = queue.enqueue_marker();
  std::optional<buffer> managed;
  if (device.info().managed_memory != managed_memory_kind::none) {
    managed = bench.context.create_managed_buffer(bytes);
  }
  const auto graph = queue.capture([&] {
    bench.add.set_arguments(bench.sum, 1);
    queue.enqueue(bench.add, range);
    check_refused(device, "finish", [&] { queue.finish(); });
    check_refused(device, "a blocking copy", [&] { bench.sums(); });
    check_refused(device, "a blocking copy",
                  [&] { queue.write(bench.sum, bench.input().data(), bytes); });
    check_refused(device, "a marker", [&] { queue.enqueue_marker(); });
    check_refused(device, "waiting for events", [&] { queue.wait_for({before}); });
    CHECK_NOTHROW(queue.wait_for({}));
    check_refused(device, "a launch with an event",
                  [&] { queue.enqueue_with_event(bench.add, range); });
    if (managed) check_refused(device, "mapping memory", [&] { (void)queue.map(*managed); });
    check_refused(device, "another capture", [&] { bench.capture(); });
    check_refused(device, "a command graph", [&] { queue.enqueue(*inner); });
    queue.enqueue(bench.add, range);
  });
  REQUIRE(graph);
  queue.enqueue(*graph);
  CHECK(bench.sums() == values(64, 2));
}

void recapture(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  const buffer other = bench.integers(64, 100);
  const auto enqueue = [&](const buffer& data, int times) {
    bench.add.set_arguments(data, 1);
    for (int i = 0; i < times; ++i) bench.queue.enqueue(bench.add, range);
  };
  auto graph = bench.queue.capture([&] { enqueue(bench.sum, 2); });
  REQUIRE(graph);
  const command_graph copy = *graph;
  bench.queue.enqueue(copy);
  bench.queue.recapture(*graph, [&] { enqueue(other, 2); });
  bench.queue.enqueue(copy);
  CHECK(bench.read<std::int32_t>(other) == values(64, 102));
  bench.queue.recapture(*graph, [&] {
    enqueue(other, 3);
    bench.queue.zero(bench.seed, bytes);
  });
  bench.queue.enqueue(copy);
  CHECK(bench.read<std::int32_t>(other) == values(64, 105));
  CHECK(bench.sums() == values(64, 2));
}

void nothing_captured(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  const auto graph = bench.queue.capture([] {});
  REQUIRE(graph);
  CHECK_NOTHROW(bench.queue.enqueue(*graph));
  CHECK(bench.sums() == values(64, 0));
}

void other_queues(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  std::optional<command_graph> graph;
  {
    command_queue capturing = bench.context.create_command_queue();
    graph = capturing.capture([&] { bench.enqueue_all(capturing); });
  }
  REQUIRE(graph);
  bench.queue.enqueue(*graph);
  bench.queue.enqueue(*graph);
  CHECK(bench.sums() == values(64, 2));
  conformance_bench foreign(device);
  CHECK_THROWS_AS(foreign.queue.enqueue(*graph), argument_error);
  CHECK_THROWS_AS(foreign.queue.recapture(*graph, [] {}), argument_error);
}

void recorded_as_one(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  tuning_command_queue queue = bench.context.create_tuning_command_queue();
  queue.start_recording();
  const auto graph = queue.capture([&] {
    bench.enqueue_all(queue);
    check_refused(device, "start_recording", [&] { queue.start_recording(); });
    check_refused(device, "stop_recording", [&] { queue.stop_recording(); });
  });
  REQUIRE(graph);
  CHECK(queue.recorded() == 0);
  queue.enqueue(*graph);
  queue.zero(bench.seed, bytes);
  const auto times = queue.stop_recording();
  REQUIRE(times.size() == 2);
  CHECK(times[0] > std::chrono::nanoseconds{0});
  CHECK(bench.sums() == values(64, 1));
}

void dynamic_local_memory(const device& device) {
  if (!has_graphs(device)) return;
  graph_bench bench(device);
  kernel turn = bench.program.create_kernel("reverse_dynamic");
  turn.set_arguments(bench.seed);
  const std::size_t most = device.limits().max_dynamic_local_memory_bytes / 16 * 16;
  const auto graph = bench.queue.capture([&] {
    bench.queue.write(bench.seed, bench.input().data(), bytes, 0, false);
    bench.queue.enqueue(turn, {{64}, {64}, most});
  });
  REQUIRE(graph);
  for (int i = 0; i < 2; ++i) bench.queue.enqueue(*graph);
  CHECK(bench.read<std::int32_t>(bench.seed).front() == 63);
}

constexpr requirement requirements[] = {
    {"a graph gives the results of its commands; without graphs a device says so", same_result},
    {"what is captured is not run", captured_is_not_run},
    {"a graph keeps the kernels, arguments and buffers of its capture", what_was_captured_stays},
    {"the copies of a graph use host memory anew in each launch", copies_read_host_memory_anew},
    {"an exception leaves a capture, and the queue and a graph as they were", exceptions_pass},
    {"what cannot be captured is refused by name, and the capture goes on", refusals},
    {"a graph can be recorded anew, with other buffers and other commands", recapture},
    {"a graph may be empty", nothing_captured},
    {"a captured launch has its dynamic local memory, as much as the device has",
     dynamic_local_memory},
    {"a graph outlives its queue and runs on any other of its context", other_queues},
    {"a tuning queue records a graph as one command", recorded_as_one},
};

}  // namespace

std::span<const requirement> graph_requirements() { return requirements; }

}  // namespace tune::testing
