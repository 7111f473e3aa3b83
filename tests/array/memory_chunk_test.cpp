// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/memory_chunk.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libtune/array/guarded_memory.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/array/random_region.hpp"

namespace memory_chunk_test {

using tune::guarded_memory;
using tune::stray_write;
using tune::detail::block_map;
using tune::detail::memory_chunk;
using tune::testing::fake_device;

TEST_CASE("blocks lie one after the other, rounded up to the alignment") {
  block_map blocks(1024, 256);
  CHECK(blocks.take(1) == 0);
  CHECK(blocks.take(257) == 256);
  CHECK(blocks.bytes_in_use() == 768);
  CHECK(blocks.largest_free_bytes() == 256);
  CHECK(blocks.take(257) == std::nullopt);
  CHECK(blocks.take(256) == 768);
  CHECK(blocks.largest_free_bytes() == 0);
  CHECK(blocks.take(1) == std::nullopt);
}

TEST_CASE("neighbours that are free become one, whatever the order") {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 16, 32}, {32, 16, 0}, {0, 32, 16}, {16, 0, 32}}) {
    block_map blocks(48, 16);
    for (int i = 0; i < 3; ++i) REQUIRE(blocks.take(16).has_value());
    for (const std::size_t offset : order) blocks.release(offset);
    CHECK(blocks.bytes_in_use() == 0);
    CHECK(blocks.take(48) == 0);
  }
}

TEST_CASE("the smallest hole that fits is used") {
  block_map blocks(100, 1);
  REQUIRE(blocks.take(30) == 0);
  REQUIRE(blocks.take(1) == 30);
  REQUIRE(blocks.take(10) == 31);
  REQUIRE(blocks.take(1) == 41);
  blocks.release(0);
  blocks.release(31);
  CHECK(blocks.take(9) == 31);
  CHECK(blocks.take(1) == 40);
  CHECK(blocks.take(9) == 0);
}

TEST_CASE("a rest that cannot be aligned is not used") {
  block_map blocks(1000, 256);
  CHECK(blocks.largest_free_bytes() == 768);
  CHECK(block_map(255, 256).take(1) == std::nullopt);
}

TEST_CASE("no size is too large to be refused") {
  block_map blocks(1024, 256);
  CHECK(blocks.take(std::numeric_limits<std::size_t>::max()) == std::nullopt);
  constexpr std::size_t huge = std::size_t{1} << 40;
  block_map many(huge, 256);
  CHECK(many.take(huge - 256) == 0);
  CHECK(many.take(256) == huge - 256);
}

TEST_CASE("random blocks never overlap, and all of the memory comes back") {
  block_map blocks(1 << 16, 64);
  tune::testing::random_numbers random(3);
  std::map<std::size_t, std::size_t> taken;
  std::size_t in_use = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bytes = 1 + random.below(4000);
    if (const auto offset = blocks.take(bytes)) {
      const auto next = taken.lower_bound(*offset);
      REQUIRE(*offset % 64 == 0);
      REQUIRE(*offset + bytes <= (next == taken.end() ? 1 << 16 : next->first));
      if (next != taken.begin()) {
        REQUIRE(std::prev(next)->first + std::prev(next)->second <= *offset);
      }
      taken.emplace(*offset, bytes);
      in_use += (bytes + 63) / 64 * 64;
    }
    if (!taken.empty() && random.coin()) {
      const auto victim = std::next(taken.begin(), static_cast<int>(random.below(taken.size())));
      blocks.release(victim->first);
      in_use -= (victim->second + 63) / 64 * 64;
      taken.erase(victim);
    }
    REQUIRE(blocks.bytes_in_use() == in_use);
  }
  for (const auto& [offset, bytes] : taken) blocks.release(offset);
  CHECK(blocks.take(1 << 16) == 0);
}

TEST_CASE("a part is what its bytes are in the whole") {
  const tune::context context = fake_device().device().create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::buffer whole = context.create_buffer(1024);
  queue.zero(whole, 1024);
  const auto chunk = std::make_shared<memory_chunk>(whole, 256);
  const std::optional<tune::buffer> first = chunk->take(10);
  const std::optional<tune::buffer> second = chunk->take(10);
  REQUIRE(second.has_value());
  const std::vector<std::byte> ones(10, std::byte{1});
  queue.write(*second, ones.data(), 10);
  std::vector<std::byte> contents(1024);
  queue.read(whole, contents.data(), 1024);
  CHECK(std::vector(contents.begin() + 256, contents.begin() + 266) == ones);
  CHECK(contents[255] == std::byte{0});
  CHECK(contents[266] == std::byte{0});
}

TEST_CASE("a part goes back when the last handle goes, even one that a kernel or a copy made") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const auto chunk = std::make_shared<memory_chunk>(context.create_buffer(1024), 256);
  std::optional<tune::buffer> part = chunk->take(1024);
  auto shared = part->impl();
  part.reset();
  CHECK(chunk->bytes_in_use() == 1024);
  CHECK_FALSE(chunk->take(1).has_value());
  shared.reset();
  CHECK(chunk->bytes_in_use() == 0);
  CHECK(chunk->largest_free_bytes() == 1024);
}

TEST_CASE("a part that cannot be made leaves nothing taken") {
  const tune::context context = fake_device().device().create_context();
  // Less than the device asks of sub-buffers.
  const auto chunk = std::make_shared<memory_chunk>(context.create_buffer(1024), 1);
  const std::optional<tune::buffer> first = chunk->take(1);
  CHECK_THROWS_AS(chunk->take(1), tune::argument_error);
  CHECK(chunk->bytes_in_use() == 1);
}

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

LIBTUNE_DEVICE_TEST_CASE("an array that begins later has bands around it as well", device) {
  bench on(device);
  const std::size_t shift = on.context.impl()->least_alignment();
  guarded_memory memory(on.context, 1000, 4096, shift);
  REQUIRE(memory.shifted());
  CHECK(memory.shifted()->size_bytes() == 1000);
  memory.arm(on.queue, 1000, pattern, true);
  on.write(*memory.shifted(), 0, 1000);
  CHECK_FALSE(memory.find_stray_write(on.queue));
  on.write(memory.memory(), 0, 1);
  const auto found = memory.find_stray_write(on.queue);
  REQUIRE(found);
  CHECK_FALSE(found->behind);
  CHECK(found->nearest == shift - 1);
  memory.arm(on.queue, 1000 - shift, pattern, true);
  on.write(*memory.shifted(), 1000 - shift, 1);
  CHECK(memory.find_stray_write(on.queue).value().behind);
  memory.arm(on.queue, 1000, pattern);
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

}  // namespace memory_chunk_test
