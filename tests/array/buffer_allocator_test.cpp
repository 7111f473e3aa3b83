// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/numbered_array.hpp"

namespace buffer_allocator_test {

using tune::buffer;
using tune::buffer_allocator;
using tune::typed_array;
using tune::testing::fake_call;
using tune::testing::fake_device;

/// Arrays lie in the buffer that was given, each where the one before ends.
void check_arrays(const tune::device& device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const buffer whole = context.create_buffer(1 << 16);
  queue.zero(whole, whole.size_bytes());
  buffer_allocator memory(whole, 1 << 12);
  const typed_array<std::int32_t> first(memory, {3, 4});
  const typed_array<std::int32_t> second(memory, {1100});
  const typed_array<std::int32_t> third(memory, {2});
  third.set(queue, tune::testing::numbered_array<std::int32_t>({2}, {2}));
  std::vector<std::int32_t> contents((1 << 16) / sizeof(std::int32_t));
  queue.read(whole, contents.data(), 1 << 16);
  const std::size_t place = 3 * ((1 << 12) / sizeof(std::int32_t));
  CHECK(contents[place] == tune::testing::numbered<std::int32_t>(0));
  CHECK(contents[place + 1] == tune::testing::numbered<std::int32_t>(1));
  CHECK(std::count(contents.begin(), contents.end(), 0) ==
        static_cast<std::ptrdiff_t>(contents.size() - 2));
}

TEST_CASE("arrays lie in the buffer that was given") { check_arrays(fake_device().device()); }
LIBTUNE_DEVICE_TEST_CASE("arrays lie in the buffer that was given, on a device", device) {
  check_arrays(device);
}

TEST_CASE("no other memory is taken, and a full buffer is an error that says how full") {
  const fake_device fake({.identity = {"fake device", "fake platform", "1.0"}});
  const tune::context context = fake.device().create_context();
  buffer_allocator memory(context.create_buffer(1024));
  CHECK(memory.bytes() == 1024);
  CHECK(memory.context() == context);
  const buffer first = memory.allocate(300);
  std::optional<buffer> second = memory.allocate(256);
  CHECK(memory.bytes_in_use() == 768);
  CHECK_THROWS_WITH_AS(memory.allocate(300),
                       "allocating 300 bytes in a buffer of 1024 failed on device 'fake device': "
                       "768 bytes are in use, and the largest free part has 256; let arrays go "
                       "before, or set more memory aside",
                       tune::device_error);
  try {
    static_cast<void>(memory.allocate(300));
    FAIL("it was not full");
  } catch (const tune::device_error& full) {
    CHECK(full.failure() == tune::device_failure::out_of_memory);
  }
  second.reset();
  CHECK(memory.allocate(300).size_bytes() == 300);
  CHECK(fake.calls(fake_call::allocate) == 1);
}

TEST_CASE("the parts keep the buffer, and nothing else does") {
  const fake_device fake;
  std::optional<buffer> part;
  {
    buffer_allocator memory(fake.device().create_context().create_buffer(1024));
    part = memory.allocate(10);
  }
  CHECK(fake.live_bytes() == 1024);
  part.reset();
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("an alignment is a power of two") {
  const tune::context context = fake_device().device().create_context();
  CHECK_THROWS_AS(buffer_allocator(context.create_buffer(1024), 3), tune::argument_error);
}

}  // namespace buffer_allocator_test
