// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/guarded_memory.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <initializer_list>
#include <span>

#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

namespace guarded_memory_test {

using tune::guarded_memory;
using tune::stray_write;

constexpr std::byte pattern{0xA5};
constexpr std::byte other{0x01};

struct bench {
  explicit bench(const tune::device& device)
      : context(device.create_context()), queue(context.create_command_queue()) {}

  /// Fills bytes from that many on from the begin of an array of 10 bytes.
  void write(const tune::buffer& whole, std::size_t from, std::size_t bytes) {
    queue.fill(whole, bytes, std::span(&other, 1), from);
  }

  tune::context context;
  tune::command_queue queue;
};

LIBTUNE_DEVICE_TEST_CASE("writes inside of the array are nobody's business", device) {
  bench on(device);
  guarded_memory memory(on.context, 1000, 4096);
  memory.arm(on.queue, 1000, pattern);
  on.write(memory.memory(), 0, 1000);
  CHECK_FALSE(memory.find_stray_write(on.queue));
}

LIBTUNE_DEVICE_TEST_CASE("an array may end before its memory does, and the band begins there",
                         device) {
  bench on(device);
  guarded_memory memory(on.context, 1000, 4096);
  memory.arm(on.queue, 10, pattern);
  on.write(memory.memory(), 0, 10);
  CHECK_FALSE(memory.find_stray_write(on.queue));
  on.write(memory.memory(), 13, 4);
  const auto found = memory.find_stray_write(on.queue);
  REQUIRE(found);
  CHECK(found->behind);
  CHECK(found->nearest == 3);
  CHECK(found->farthest == 6);
  CHECK(found->count == 4);
  CHECK(found->describe() == "bytes 13 to 16, 4 to 7 past the end, were written");
  memory.arm(on.queue, 20, pattern);
  CHECK_FALSE(memory.find_stray_write(on.queue));
}

TEST_CASE("bands are as long as was asked for, in whole steps of the device's alignment") {
  const tune::testing::fake_device fake;
  bench on(fake.device());
  const std::size_t step = fake.device().limits().buffer_alignment_bytes;
  const guarded_memory memory(on.context, 100, 3 * step + 1);
  CHECK(memory.band_bytes() == 4 * step);
  CHECK(memory.total_bytes() == 100 + 8 * step);
  CHECK(memory.memory().size_bytes() == 100);
}

TEST_CASE("memory that has never been armed has no stray writes, and none is made for nothing") {
  const tune::testing::fake_device fake;
  bench on(fake.device());
  guarded_memory memory(on.context, 0, 0);
  CHECK_FALSE(memory.find_stray_write(on.queue));
  memory.arm(on.queue, 0, pattern);
  CHECK_FALSE(memory.find_stray_write(on.queue));
  CHECK(memory.memory().size_bytes() == 1);
}

LIBTUNE_DEVICE_TEST_CASE("elements are counted, whatever bytes of them were changed", device) {
  bench on(device);
  guarded_memory memory(on.context, 1000, 4096);
  const auto describe_after = [&](std::initializer_list<std::ptrdiff_t> places, std::size_t bytes) {
    memory.arm(on.queue, 400, pattern);
    const tune::buffer whole = memory.memory();
    for (const std::ptrdiff_t place : places) {
      on.write(whole, static_cast<std::size_t>(place), bytes);
    }
    return memory.find_stray_write(on.queue, 4).value().describe();
  };
  CHECK(describe_after({402}, 1) == "element 100, 1 past the end, was written");
  CHECK(describe_after({400}, 4) == "element 100, 1 past the end, was written");
  CHECK(describe_after({403}, 2) == "elements 100 to 101, 1 to 2 past the end, were written");
  CHECK(describe_after({404, 416}, 4) ==
        "2 elements from 101 to 104, 2 to 5 past the end, were written");
}

TEST_CASE("a stray write is described by what was written, and how far away") {
  stray_write write{.in_elements = true, .end = 1024, .count = 1, .band = 1000};
  CHECK(write.describe() == "element 1024, 1 past the end, was written");
  write.behind = false;
  CHECK(write.describe() == "element -1, 1 before the begin, was written");
  write.nearest = 2;
  write.farthest = 4;
  write.count = 3;
  CHECK(write.describe() == "elements -5 to -3, 3 to 5 before the begin, were written");
  write.count = 2;
  CHECK(write.describe() == "2 elements from -5 to -3, 3 to 5 before the begin, were written");
  write.in_elements = false;
  write.behind = true;
  CHECK(write.describe() == "2 bytes from 1026 to 1028, 3 to 5 past the end, were written");
  write.farthest = 999;
  CHECK(write.describe() ==
        "2 bytes from 1026 to 2023, 3 to 1000 past the end, were written, or farther");
}

}  // namespace guarded_memory_test
