// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/conformance_bench.hpp"
#include "libtune/testing/conformance_requirements.hpp"

namespace tune::testing {
namespace {

constexpr std::size_t count = 64;
constexpr nd_range range{{count}, {16}};

std::span<std::int32_t> integers_in(void* memory) {
  return {static_cast<std::int32_t*>(memory), count};
}

void pinned(const device& device) {
  conformance_bench bench(device);
  const pinned_memory host = bench.context.create_pinned_memory(count * sizeof(std::int32_t));
  REQUIRE(host.data() != nullptr);
  CHECK(host.size_bytes() == count * sizeof(std::int32_t));
  CHECK(reinterpret_cast<std::uintptr_t>(host.data()) % 16 == 0);
  std::ranges::fill(integers_in(host.data()), 5);
  const buffer data = bench.integers(count, 0);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(data, 2);
  bench.queue.write(data, host.data(), host.size_bytes(), 0, false);
  bench.queue.enqueue(add, range);
  bench.queue.read(data, host.data(), host.size_bytes(), 0, false);
  bench.queue.finish();
  CHECK(std::ranges::count(integers_in(host.data()), 7) == count);
  CHECK_THROWS_AS(bench.context.create_pinned_memory(0), argument_error);
}

void pinned_outlives_context(const device& device) {
  pinned_memory kept = device.create_context().create_pinned_memory(100);
  const pinned_memory copy = kept;
  kept = device.create_context().create_pinned_memory(1);
  std::ranges::fill(std::span(static_cast<std::uint8_t*>(copy.data()), 100), std::uint8_t{9});
  CHECK(static_cast<const std::uint8_t*>(copy.data())[99] == 9);
}

void managed(const device& device) {
  conformance_bench bench(device);
  CHECK(bench.integers(count, 0).host_data() == nullptr);
  const std::size_t bytes = count * sizeof(std::int32_t);
  if (!device.info().managed_memory) {
    CHECK_THROWS_AS(bench.context.create_managed_buffer(bytes), device_error);
    return;
  }
  const buffer data = bench.context.create_managed_buffer(bytes);
  REQUIRE(data.host_data() != nullptr);
  CHECK(data.size_bytes() == bytes);
  std::ranges::fill(integers_in(data.host_data()), 20);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(data, 1);
  bench.queue.enqueue(add, range);
  bench.queue.finish();
  CHECK(std::ranges::count(integers_in(data.host_data()), 21) == count);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(count, 21));
  bench.queue.zero(data, bytes);
  bench.queue.finish();
  CHECK(std::ranges::count(integers_in(data.host_data()), 0) == count);
  CHECK_THROWS_AS(bench.context.create_managed_buffer(0), argument_error);
}

void own_contexts(const device& device) {
  const context own = device.create_context({.own = true});
  const context another = device.create_context({.own = true});
  CHECK_FALSE(own == another);
  const std::vector<std::int32_t> values(count, 3);
  std::vector<std::int32_t> result(count);
  for (const context& context : {own, another, device.create_context()}) {
    command_queue queue = context.create_command_queue();
    const buffer data = context.create_buffer(count * sizeof(std::int32_t));
    queue.write(data, values.data(), data.size_bytes());
    kernel add = build_conformance_program(context).create_kernel("add");
    add.set_arguments(data, 4);
    queue.enqueue(add, range);
    queue.read(data, result.data(), data.size_bytes());
    CHECK(result == std::vector<std::int32_t>(count, 7));
  }
}

constexpr requirement requirements[] = {
    {"pinned host memory is copied from and to", pinned},
    {"pinned host memory outlives the handle of its context", pinned_outlives_context},
    {"a managed buffer is seen by both sides, where the device says so", managed},
    {"contexts of one's own work beside each other and the shared one", own_contexts},
};

}  // namespace

std::span<const requirement> memory_requirements() { return requirements; }

}  // namespace tune::testing
