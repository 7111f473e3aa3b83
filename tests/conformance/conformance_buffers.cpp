// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "tests/conformance/conformance_requirements.hpp"
#include "tests/testing/refusals.hpp"

namespace tune::testing {
namespace {

using bytes = std::vector<std::uint8_t>;

bytes counting(std::size_t size, int first = 0) {
  bytes values(size);
  std::iota(values.begin(), values.end(), static_cast<std::uint8_t>(first));
  return values;
}

bytes read_all(command_queue& queue, const buffer& buffer) {
  bytes values(buffer.size_bytes());
  queue.read(buffer, values.data(), values.size());
  return values;
}

void round_trip(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  for (const std::size_t size : {1, 7, 256, 100'003}) {
    CAPTURE(size);
    const bytes values = counting(size);
    const buffer memory = context.create_buffer(size);
    CHECK(memory.size_bytes() == size);
    queue.write(memory, values.data(), size);
    CHECK(read_all(queue, memory) == values);
  }
}

void offsets(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  const buffer memory = context.create_buffer(100);
  bytes expected = counting(100);
  queue.write(memory, expected.data(), 100);
  const bytes patch = counting(11, 200);
  queue.write(memory, patch.data(), 11, 37);
  std::copy(patch.begin(), patch.end(), expected.begin() + 37);
  CHECK(read_all(queue, memory) == expected);

  bytes part(20);
  queue.read(memory, part.data(), 20, 33);
  CHECK(part == bytes(expected.begin() + 33, expected.begin() + 53));
}

void not_blocking(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  const buffer memory = context.create_buffer(1 << 16);
  const bytes values = counting(1 << 16);
  bytes result(values.size());
  queue.write(memory, values.data(), values.size(), 0, false);
  queue.read(memory, result.data(), result.size(), 0, false);
  queue.flush();
  queue.finish();
  CHECK(result == values);
}

void ranges(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  const buffer memory = context.create_buffer(16);
  bytes values(32);
  CHECK_THROWS_AS(queue.write(memory, values.data(), 17), argument_error);
  CHECK_THROWS_AS(queue.read(memory, values.data(), 8, 9), argument_error);
  CHECK_THROWS_AS(queue.zero(memory, 1, 16), argument_error);
  CHECK_THROWS_AS(context.create_buffer(0), argument_error);
  CHECK_NOTHROW(queue.write(memory, values.data(), 0, 16));
}

void too_large(const device& device) {
  const context context = device.create_context();
  check_refused([&] { context.create_buffer(device.limits().max_allocation_bytes + 1); },
                device_failure::out_of_memory, {"on device '" + device.name() + "'"});
  CHECK(context.create_buffer(16).size_bytes() == 16);
}

constexpr requirement requirements[] = {
    {"a buffer gives back what was written to it", round_trip},
    {"parts of a buffer are written and read at offsets", offsets},
    {"copies that do not block are done after finish", not_blocking},
    {"what leaves a buffer is refused", ranges},
    {"a buffer over the limit is out of memory, and harms nothing", too_large},
};

}  // namespace

std::span<const requirement> buffer_requirements() { return requirements; }

}  // namespace tune::testing
