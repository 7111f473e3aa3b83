// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

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

std::size_t count_of(const mapped_memory& memory, std::int32_t value) {
  return static_cast<std::size_t>(std::ranges::count(integers_in(memory.data()), value));
}

void managed(const device& device) {
  conformance_bench bench(device);
  CHECK(bench.integers(count, 0).host_data() == nullptr);
  const std::size_t bytes = count * sizeof(std::int32_t);
  if (device.info().managed_memory == managed_memory_kind::none) {
    CHECK_THROWS_AS(bench.context.create_managed_buffer(bytes), device_error);
    return;
  }
  const buffer data = bench.context.create_managed_buffer(bytes);
  CHECK(data.size_bytes() == bytes);
  mapped_memory host = bench.queue.map(data);
  CHECK(host.size_bytes() == bytes);
  REQUIRE(host.data() != nullptr);
  std::ranges::fill(integers_in(host.data()), 20);
  host.unmap();
  CHECK(host.data() == nullptr);
  CHECK_NOTHROW(host.unmap());
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(data, 1);
  bench.queue.enqueue(add, range);
  CHECK(count_of(bench.queue.map(data), 21) == count);
  CHECK(bench.read<std::int32_t>(data) == std::vector<std::int32_t>(count, 21));
  bench.queue.zero(data, bytes);
  CHECK(count_of(bench.queue.map(data), 0) == count);
  const std::vector<std::int32_t> values(count, 5);
  bench.queue.write(data, values.data(), bytes);
  host = bench.queue.map(data);
  CHECK(count_of(host, 5) == count);
  integers_in(host.data())[3] = 6;
  host = bench.queue.map(bench.context.create_managed_buffer(1));
  CHECK(bench.read<std::int32_t>(data)[3] == 6);
  CHECK_THROWS_AS(bench.context.create_managed_buffer(0), argument_error);
}

void managed_without_mapping(const device& device) {
  if (device.info().managed_memory == managed_memory_kind::none) return;
  conformance_bench bench(device);
  const buffer data = bench.context.create_managed_buffer(count * sizeof(std::int32_t));
  const bool is_direct = device.info().managed_memory == managed_memory_kind::direct;
  REQUIRE((data.host_data() != nullptr) == is_direct);
  if (!is_direct) return;
  std::ranges::fill(integers_in(data.host_data()), 20);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(data, 1);
  bench.queue.enqueue(add, range);
  bench.queue.finish();
  CHECK(std::ranges::count(integers_in(data.host_data()), 21) == count);
  const mapped_memory host = bench.queue.map(data);
  CHECK(host.data() == data.host_data());
}

void mapped_without_blocking(const device& device) {
  if (device.info().managed_memory == managed_memory_kind::none) return;
  conformance_bench bench(device);
  const buffer data = bench.context.create_managed_buffer(count * sizeof(std::int32_t));
  const std::vector<std::int32_t> pattern{4};
  bench.queue.fill(data, data.size_bytes(), std::as_bytes(std::span(pattern)));
  const mapped_memory host = bench.queue.map(data, false);
  bench.queue.finish();
  CHECK(count_of(host, 4) == count);
}

void managed_parts(const device& device) {
  if (device.info().managed_memory == managed_memory_kind::none) return;
  conformance_bench bench(device);
  const std::size_t bytes =
      round_up(count * sizeof(std::int32_t), device.limits().buffer_alignment_bytes);
  const buffer whole = bench.context.create_managed_buffer(2 * bytes);
  bench.queue.zero(whole, 2 * bytes);
  const buffer upper = bench.context.create_sub_buffer(whole, bytes, bytes);
  if (whole.host_data() != nullptr) {
    CHECK(upper.host_data() == static_cast<std::byte*>(whole.host_data()) + bytes);
  }
  {
    const mapped_memory host = bench.queue.map(upper);
    CHECK(host.size_bytes() == bytes);
    std::ranges::fill(integers_in(host.data()), 30);
  }
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(upper, 3);
  bench.queue.enqueue(add, range);
  const mapped_memory host = bench.queue.map(whole);
  CHECK(count_of(host, 0) == count);
  CHECK(integers_in(static_cast<std::byte*>(host.data()) + bytes)[count - 1] == 33);
}

void unmanaged(const device& device) {
  conformance_bench bench(device);
  const buffer plain = bench.integers(count, 0);
  CHECK_THROWS_AS((void)bench.queue.map(plain), argument_error);
  if (device.info().managed_memory == managed_memory_kind::none) return;
  const buffer managed = bench.context.create_managed_buffer(4);
  command_queue foreign = device.create_context().create_command_queue();
  CHECK_THROWS_AS((void)foreign.map(managed), argument_error);
}

void mapping_outlives_handles(const device& device) {
  if (device.info().managed_memory == managed_memory_kind::none) return;
  const mapped_memory kept = [&] {
    const context context = device.create_context();
    return context.create_command_queue().map(
        context.create_managed_buffer(count * sizeof(std::int32_t)));
  }();
  std::ranges::fill(integers_in(kept.data()), 8);
  CHECK(count_of(kept, 8) == count);
}

void own_contexts(const device& device) {
  const bool is_green = device.info().backend == "CUDA" && device.info().whole_compute_units > 0;
  if (is_green) {
    CHECK_THROWS_AS(static_cast<void>(device.create_context({.own = true})), device_error);
    return;
  }
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
    {"a managed buffer is seen by both sides, the host while it is mapped", managed},
    {"a managed buffer needs no mapping where the device says so", managed_without_mapping},
    {"a mapping that does not block is there after finish", mapped_without_blocking},
    {"a part of a managed buffer is managed too", managed_parts},
    {"other buffers and those of other contexts cannot be mapped", unmanaged},
    {"mapped memory outlives the handles of queue and buffer", mapping_outlives_handles},
    {"contexts of one's own work beside each other and the shared one", own_contexts},
};

}  // namespace

std::span<const requirement> memory_requirements() { return requirements; }

}  // namespace tune::testing
