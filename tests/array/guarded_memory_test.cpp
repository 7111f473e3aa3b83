// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/guarded_memory.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <span>

#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"

using tune::guarded_memory;
using tune::stray_write;

namespace {

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

}  // namespace

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
  CHECK(found->nearest_bytes == 3);
  CHECK(found->farthest_bytes == 6);
  CHECK(found->count == 4);
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

TEST_CASE("a stray write is described in bytes and elements") {
  const stray_write behind{
      .behind = true, .nearest_bytes = 0, .farthest_bytes = 15, .count = 16, .band_bytes = 4096};
  CHECK(behind.describe(4) ==
        "16 bytes were written out of bounds, the nearest 0 bytes (0 elements) behind its end, the "
        "farthest 15 bytes (3 elements)");
  CHECK(behind.describe(0) ==
        "16 bytes were written out of bounds, the nearest 0 bytes behind its end, the farthest 15 "
        "bytes");
  const stray_write before{.behind = false,
                           .nearest_bytes = 0,
                           .farthest_bytes = 4095,
                           .count = 4096,
                           .band_bytes = 4096};
  CHECK(before.describe(8) ==
        "4096 bytes were written out of bounds, the nearest 1 bytes (1 elements) before its begin, "
        "the farthest 4096 bytes (512 elements), as far as can be seen");
}
