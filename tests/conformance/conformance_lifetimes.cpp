// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

constexpr nd_range range{{64}, {16}};

// One of each kind of object, each of which can be let go on its own.
struct possessions {
  explicit possessions(const device& device) {
    conformance_bench bench(device);
    kernel.emplace(bench.program.create_kernel("add"));
    buffer.emplace(bench.integers(64, 0));
    kernel->set_arguments(*buffer, 2);
    event.emplace(bench.queue.enqueue_with_event(*kernel, range));
    context.emplace(bench.context);
    program.emplace(bench.program);
    queue.emplace(bench.queue);
  }

  static constexpr int kinds = 6;

  void let_go(int kind) {
    switch (kind) {
      case 0: context.reset(); break;
      case 1: program.reset(); break;
      case 2: queue.reset(); break;
      case 3: buffer.reset(); break;
      case 4: event.reset(); break;
      default: kernel.reset(); break;
    }
  }

  std::optional<tune::context> context;
  std::optional<tune::program> program;
  std::optional<tune::command_queue> queue;
  std::optional<tune::buffer> buffer;
  std::optional<tune::event> event;
  std::optional<tune::kernel> kernel;
};

// Each kind goes first and last, next to different neighbours.
void any_order(const device& device) {
  std::array<int, possessions::kinds> order{0, 1, 2, 3, 4, 5};
  for (int i = 0; i < possessions::kinds; ++i) {
    possessions forwards(device);
    for (const int kind : order) CHECK_NOTHROW(forwards.let_go(kind));
    possessions backwards(device);
    for (auto kind = order.rbegin(); kind != order.rend(); ++kind) {
      CHECK_NOTHROW(backwards.let_go(*kind));
    }
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
}

void without_context_and_program(const device& device) {
  possessions kept(device);
  kept.context.reset();
  kept.program.reset();
  kept.queue->enqueue(*kept.kernel, range);
  std::vector<std::int32_t> values(64);
  kept.queue->read(*kept.buffer, values.data(), 64 * sizeof(std::int32_t));
  CHECK(values == std::vector<std::int32_t>(64, 4));
  CHECK(kept.queue->context().create_buffer(4).size_bytes() == 4);
}

void without_queue(const device& device) {
  possessions kept(device);
  kept.queue.reset();
  CHECK_NOTHROW(kept.event->wait());
  CHECK(kept.event->is_complete());
  command_queue another = kept.context->create_command_queue();
  std::vector<std::int32_t> values(64);
  another.read(*kept.buffer, values.data(), 64 * sizeof(std::int32_t));
  CHECK(values == std::vector<std::int32_t>(64, 2));
}

void kernel_keeps_its_buffer(const device& device) {
  conformance_bench bench(device);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(bench.integers(64, 0), 1);
  const kernel moved = [&] {
    bench.queue.enqueue(add, range);
    return std::move(add);
  }();
  CHECK_NOTHROW(bench.queue.finish());
  CHECK(moved.info().name == "add");
}

constexpr requirement requirements[] = {
    {"handles are let go in any order", any_order},
    {"queue, kernel and buffer work without the handles of context and program",
     without_context_and_program},
    {"events and buffers outlive their queue", without_queue},
    {"a kernel keeps the buffers that it was given", kernel_keeps_its_buffer},
};

}  // namespace

std::span<const requirement> lifetime_requirements() { return requirements; }

}  // namespace tune::testing
