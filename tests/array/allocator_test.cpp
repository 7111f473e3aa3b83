// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/allocator.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <thread>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/array/numbered_array.hpp"
#include "tests/array/random_region.hpp"
#include "tests/testing/every_device.hpp"
#include "tests/testing/refusals.hpp"

namespace allocator_test {

using tune::buffer;
using tune::buffer_allocator;
using tune::pooled_allocator;
using tune::typed_array;
using tune::testing::fake_call;
using tune::testing::fake_device;
using tune::testing::random_numbers;

TEST_CASE("a plain allocator makes a buffer of the context's for each request") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::plain_allocator memory(context);
  tune::allocator& abstract = memory;
  CHECK(abstract.context() == context);
  {
    const tune::buffer first = abstract.allocate(100);
    const tune::buffer second = abstract.allocate(50);
    CHECK(first.size_bytes() == 100);
    CHECK(fake.live_bytes() == 150);
    CHECK(fake.calls(fake_call::allocate) == 2);
  }
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("memory of no bytes is an error, and so is memory that there is not") {
  const fake_device fake;
  tune::plain_allocator memory(fake.device().create_context());
  CHECK_THROWS_WITH_AS(memory.allocate(0), "an allocator was asked for a buffer of no bytes",
                       tune::argument_error);
  fake.fail_next(fake_call::allocate, 1, {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(memory.allocate(1), tune::device_error);
}

/// Arrays lie in the buffer that was given, each where the one before ends.
EVERY_DEVICE_TEST_CASE("what a managed allocator hands out can be mapped", device) {
  const tune::context context = device.create_context();
  if (device.info().managed_memory == tune::managed_memory_kind::none) {
    CHECK_THROWS_WITH_AS(tune::managed_allocator{context},
                         doctest::Contains("the device has no managed memory"), tune::device_error);
    return;
  }
  tune::command_queue queue = context.create_command_queue();
  tune::managed_allocator memory(context);
  const tune::device_array array(memory, {tune::dtype::int32, {3}});
  array.fill(queue, std::int32_t{7});
  const tune::mapped_memory view = queue.map(array.buffer());
  CHECK(static_cast<const std::int32_t*>(view.data())[2] == 7);
}

TEST_CASE("a device without managed memory has no allocator of it") {
  const fake_device fake({.managed_memory = tune::managed_memory_kind::none});
  CHECK_THROWS_WITH_AS(tune::managed_allocator{fake.device().create_context()},
                       doctest::Contains("fake device"), tune::device_error);
}

EVERY_DEVICE_TEST_CASE("arrays lie in the buffer that was given", device) {
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

TEST_CASE("no other memory is taken, and a full buffer is an error that says how full") {
  const fake_device fake({.identity = {"fake device", "fake platform", "1.0"}});
  const tune::context context = fake.device().create_context();
  buffer_allocator memory(context.create_buffer(1024));
  CHECK(memory.bytes() == 1024);
  CHECK(memory.context() == context);
  const buffer first = memory.allocate(300);
  std::optional<buffer> second = memory.allocate(256);
  CHECK(memory.bytes_in_use() == 768);
  tune::testing::check_refused(
      [&] { memory.allocate(300); }, tune::device_failure::out_of_memory,
      {"allocating 300 bytes in a buffer of 1024 failed on device 'fake device': 768 bytes are in "
       "use, and the largest free part has 256; let arrays go before, or set more memory aside"});
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

/// Arrays of a pool come and go, and none touches another.
EVERY_DEVICE_TEST_CASE("arrays of a pool keep out of each other's way", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  pooled_allocator pool(context, {.chunk_bytes = 1 << 14});
  random_numbers random(9);
  std::vector<typed_array<std::int32_t>> arrays;
  for (std::int32_t i = 0; i < 60; ++i) {
    const typed_array<std::int32_t> array(pool, {1 + random.below(50), 1 + random.below(20)});
    tune::host_array<std::int32_t> contents(array.layout());
    contents.fill(i);
    array.set(queue, contents);
    arrays.push_back(array);
    if (random.coin()) arrays.erase(arrays.begin() + static_cast<int>(random.below(arrays.size())));
  }
  for (const auto& array : arrays) {
    const auto contents = array.get(queue);
    const std::int32_t* const first = contents.data();
    REQUIRE(std::count(first, first + contents.padded_elements(), *first) ==
            static_cast<std::ptrdiff_t>(contents.padded_elements()));
  }
  std::vector<std::int32_t> numbers;
  numbers.reserve(arrays.size());
  for (const auto& array : arrays) numbers.push_back(array.get(queue).data()[0]);
  CHECK(std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
        numbers.end());
  arrays.clear();
  CHECK(pool.statistics().bytes_in_use == 0);
  pool.release_unused();
  CHECK(pool.statistics().bytes_reserved == 0);
}

/// Arrays of one pool lie in one buffer, which drivers may look at.
EVERY_DEVICE_TEST_CASE("arrays of a pool are copied to each other", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  pooled_allocator pool(context);
  const typed_array<std::int32_t> source(pool, {4, 5, 6}, {4, 6, 9});
  const typed_array<std::int32_t> copy(pool, {4, 5, 6}, {5, 5, 8});
  source.set(queue, tune::testing::numbered_array<std::int32_t>({4, 5, 6}, {4, 5, 6}));
  copy.copy_from(queue, source);
  CHECK(tune::testing::elements_of(copy.get(queue)) == tune::testing::numbers<std::int32_t>(120));
  copy.fill(queue, -1);
  copy.copy_region(queue, {tune::from(0, 2), 0, tune::from(1, 2)}, source,
                   {tune::range(1, 3), 3, tune::range(0, 3)});
  const auto got = copy.get(queue);
  CHECK(got(0, 0, 1) == tune::testing::numbered<std::int32_t>(std::size_t{8} * 6));
  CHECK(got(2, 0, 5) == tune::testing::numbered<std::int32_t>(13 * 6 + 2));
  CHECK(tune::testing::count_in_padded(got, -1) == got.padded_elements() - 6 - (200 - 120));
}

TEST_CASE("a pool asks the context for chunks, and hands out parts of them") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1024});
  CHECK(fake.calls(fake_call::allocate) == 0);
  const buffer first = pool.allocate(100);
  const buffer second = pool.allocate(300);
  CHECK(first.size_bytes() == 100);
  CHECK(second.size_bytes() == 300);
  CHECK(first != second);
  CHECK(fake.live_bytes() == 1024);
  CHECK(pool.statistics().bytes_in_use == 256 + 512);
  CHECK(pool.statistics().bytes_reserved == 1024);
  const buffer third = pool.allocate(300);
  CHECK(fake.live_bytes() == 2048);
  CHECK(pool.statistics().chunks == 2);
}

TEST_CASE("a block goes back with the last handle, and is used again") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1024});
  std::optional<buffer> made = pool.allocate(1024);
  std::optional<buffer> copy = made;
  made.reset();
  CHECK(pool.statistics().bytes_in_use == 1024);
  copy.reset();
  CHECK(pool.statistics().bytes_in_use == 0);
  CHECK(pool.statistics().peak_bytes_in_use == 1024);
  const buffer again = pool.allocate(1024);
  CHECK(pool.statistics().chunks == 1);
  CHECK(fake.live_bytes() == 1024);
}

TEST_CASE("what is larger than a chunk gets one to itself") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1024});
  const buffer large = pool.allocate(5000);
  CHECK(large.size_bytes() == 5000);
  CHECK(pool.statistics().bytes_reserved == 5120);
}

TEST_CASE("unused chunks go back when asked, others stay") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1024});
  std::optional<buffer> first = pool.allocate(1024);
  const buffer second = pool.allocate(10);
  first.reset();
  pool.release_unused();
  CHECK(pool.statistics().bytes_reserved == 1024);
  CHECK(fake.live_bytes() == 1024);
}

TEST_CASE("buffers outlive their pool") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  std::optional<buffer> kept;
  {
    pooled_allocator pool(context, {.chunk_bytes = 1024});
    kept = pool.allocate(100);
  }
  tune::command_queue queue = context.create_command_queue();
  queue.zero(*kept, 100);
  CHECK(fake.live_bytes() == 1024);
  kept.reset();
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("where there is no memory for a chunk, unused ones go, and less is asked for") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1024});
  std::optional<buffer> unused = pool.allocate(100);
  unused.reset();
  const tune::testing::fake_failure full{.failure = tune::device_failure::out_of_memory};
  fake.fail_next(fake_call::allocate, 1, full);
  const buffer large = pool.allocate(2000);
  CHECK(pool.statistics().bytes_reserved == 2048);
  fake.fail_next(fake_call::allocate, 1, full);
  const buffer small = pool.allocate(10);
  CHECK(pool.statistics().bytes_reserved == 2048 + 256);
  CHECK_THROWS_AS(
      [&] {
        fake.fail_next(fake_call::allocate, 1, full);
        fake.fail_next(fake_call::allocate, 2, full);
        static_cast<void>(pool.allocate(4000));
      }(),
      tune::device_error);
  CHECK(pool.statistics().bytes_in_use == 2048 + 256);
}

TEST_CASE("blocks are aligned as asked, or as the device needs") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  pooled_allocator pool(context, {.chunk_bytes = 4096, .alignment_bytes = 1024});
  const buffer first = pool.allocate(1);
  CHECK(pool.statistics().bytes_in_use == 1024);
  CHECK_THROWS_WITH_AS(pooled_allocator(context, {.alignment_bytes = 48}),
                       "an allocator aligns to a power of two, not to 48 bytes",
                       tune::argument_error);
  CHECK_THROWS_AS(pooled_allocator(context, {.alignment_bytes = 0}), tune::argument_error);
  CHECK_THROWS_AS(pooled_allocator(context, {.chunk_bytes = 0}), tune::argument_error);
  CHECK_THROWS_AS(pool.allocate(0), tune::argument_error);
}

TEST_CASE("threads share a pool") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 4096});
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] {
      random_numbers random(seed);
      std::vector<buffer> kept;
      for (int i = 0; i < 300; ++i) {
        kept.push_back(pool.allocate(1 + random.below(2000)));
        if (kept.size() > 5) kept.erase(kept.begin());
        if (random.below(20) == 0) pool.release_unused();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(pool.statistics().bytes_in_use == 0);
  pool.release_unused();
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("on a sealed thread a pool serves from what it has, and does not grow") {
  const fake_device fake;
  pooled_allocator pool(fake.device().create_context(), {.chunk_bytes = 1 << 14});
  pool.allocate(1 << 13);  // makes the chunk
  const tune::testing::scoped_seal sealed;
  {
    const buffer first = pool.allocate(1 << 12);
    const buffer second = pool.allocate(1 << 12);
    CHECK(pool.statistics().chunks == 1);
    CHECK_THROWS_WITH_AS(pool.allocate(1 << 14), doctest::Contains("allocate 16384 bytes"),
                         tune::seal_broken_error);
  }
  CHECK(pool.statistics().bytes_in_use == 0);
  CHECK(tune::seal_report().count(tune::sealed_action::release) == 0);
  pool.release_unused();
  CHECK(tune::seal_report().count(tune::sealed_action::release) == 1);
}

}  // namespace allocator_test
