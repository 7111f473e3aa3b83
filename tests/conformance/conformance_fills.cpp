// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/conformance/conformance_bench.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::size_t memory_bytes = 4096;

// All that a driver does in its own way, and all that it cannot.
constexpr std::size_t pattern_sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 100, 128, 250, 256};

bytes counting(std::size_t size) {
  bytes values(size);
  std::iota(values.begin(), values.end(), std::uint8_t{0xA0});
  return values;
}

// What a buffer full of 0x11 has to hold after a fill.
bytes expected_after(const fill_region& region, const bytes& pattern) {
  bytes expected(memory_bytes, 0x11);
  for (std::size_t slice = 0; slice < region.slices; ++slice) {
    for (std::size_t row = 0; row < region.rows; ++row) {
      const std::size_t start =
          region.offset_bytes + slice * region.slice_pitch_bytes + row * region.row_pitch_bytes;
      for (std::size_t i = 0; i < region.row_bytes; ++i) {
        expected[start + i] = pattern[i % pattern.size()];
      }
    }
  }
  return expected;
}

struct fill_bench {
  explicit fill_bench(const device& device)
      : context(device.create_context()),
        queue(context.create_command_queue()),
        memory(context.create_buffer(memory_bytes)) {}

  template <class Fill>
  bytes filled(Fill&& fill) {
    const bytes before(memory_bytes, 0x11);
    queue.write(memory, before.data(), memory_bytes);
    fill();
    bytes after(memory_bytes);
    queue.read(memory, after.data(), memory_bytes);
    return after;
  }
  bytes filled(const fill_region& region, const bytes& pattern) {
    return filled([&] { queue.fill(memory, region, std::as_bytes(std::span(pattern))); });
  }

  tune::context context;
  command_queue queue;
  buffer memory;
};

void ranges(const device& device) {
  fill_bench bench(device);
  for (const std::size_t size : pattern_sizes) {
    const bytes pattern = counting(size);
    for (const std::size_t start : {std::size_t{0}, 2 * size, std::size_t{5}}) {
      for (const std::size_t repeats : {1, 3, 12}) {
        CAPTURE(size);
        CAPTURE(start);
        CAPTURE(repeats);
        const bytes after = bench.filled([&] {
          bench.queue.fill(bench.memory, repeats * size, std::as_bytes(std::span(pattern)), start);
        });
        CHECK(after ==
              expected_after({.offset_bytes = start, .row_bytes = repeats * size}, pattern));
      }
    }
  }
}

// Gaps between rows, between slices, both and none; pitches that are no multiple of anything.
void regions(const device& device) {
  fill_bench bench(device);
  for (const std::size_t size : {1, 2, 4, 8, 12, 16, 24}) {
    const bytes pattern = counting(size);
    const std::size_t row = 48;
    for (const fill_region& region :
         {fill_region{0, 64, 0, row, 5, 1}, fill_region{16, row, 0, row, 5, 1},
          fill_region{0, 64, 256, row, 3, 4}, fill_region{32, row, 3 * row, row, 3, 4},
          fill_region{32, row, 4 * row, row, 3, 4}, fill_region{4, 64, 192, row, 3, 4},
          fill_region{1, 0, 60, row, 1, 4}, fill_region{7, 51, 211, row, 4, 3},
          fill_region{2, 0, 0, row, 1, 1}, fill_region{0, 50, 0, row, 70, 1}}) {
      CAPTURE(size);
      CAPTURE(region.offset_bytes);
      CAPTURE(region.row_pitch_bytes);
      CAPTURE(region.slice_pitch_bytes);
      CHECK(bench.filled(region, pattern) == expected_after(region, pattern));
    }
  }
}

void patterns_that_repeat(const device& device) {
  fill_bench bench(device);
  const bytes twelve{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  const fill_region region{5, 70, 0, 36, 4, 1};
  CHECK(bench.filled(region, twelve) == expected_after(region, twelve));
  const bytes same(24, 9);
  CHECK(bench.filled(region, bytes(12, 9)) == expected_after(region, same));
}

void zeros(const device& device) {
  fill_bench bench(device);
  const bytes zero(1, 0);
  for (const fill_region& range : {fill_region{.offset_bytes = 0, .row_bytes = memory_bytes},
                                   fill_region{.offset_bytes = memory_bytes - 1, .row_bytes = 1},
                                   fill_region{.offset_bytes = 7, .row_bytes = 13}}) {
    CAPTURE(range.offset_bytes);
    const bytes after =
        bench.filled([&] { bench.queue.zero(bench.memory, range.row_bytes, range.offset_bytes); });
    CHECK(after == expected_after(range, zero));
  }
  const fill_region padded{3, 41, 500, 37, 9, 4};
  CHECK(bench.filled([&] { bench.queue.zero(bench.memory, padded); }) ==
        expected_after(padded, zero));
}

// More slices than a launch has work groups along an axis.
void many_slices(const device& device) {
  fill_bench bench(device);
  const bytes pattern = counting(2);
  const fill_region region{1, 5, 13, 2, 2, 300};
  CHECK(bench.filled(region, pattern) == expected_after(region, pattern));
}

// Many rows of little, and rows of more than the work items that a launch has.
void large(const device& device) {
  const context context = device.create_context();
  command_queue queue = context.create_command_queue();
  constexpr std::size_t size = std::size_t{1} << 20;
  const buffer memory = context.create_buffer(size);
  const std::vector<std::uint32_t> pattern{1, 2, 3};
  std::vector<std::uint32_t> values(size / sizeof(std::uint32_t));
  queue.zero(memory, size);
  queue.fill(memory, {.row_pitch_bytes = 16, .row_bytes = 12, .rows = size / 16},
             std::as_bytes(std::span(pattern)));
  queue.read(memory, values.data(), size);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != (i + 1) % 4 ? 1 : 0;
  CHECK(wrong == 0);

  const std::size_t odd = size / 3 * 3;
  const bytes three{5, 6, 7};
  queue.fill(memory, odd, std::as_bytes(std::span(three)));
  bytes result(odd);
  queue.read(memory, result.data(), odd);
  wrong = 0;
  for (std::size_t i = 0; i < odd; ++i) wrong += result[i] != 5 + i % 3 ? 1 : 0;
  CHECK(wrong == 0);
}

void in_order(const device& device) {
  conformance_bench bench(device);
  const buffer data = bench.integers(64, 100);
  kernel add = bench.program.create_kernel("add");
  add.set_arguments(data, 1);
  const std::vector<std::int32_t> pattern{10, 20, 30};
  bench.queue.enqueue(add, {{64}, {16}});
  bench.queue.fill(data, {.row_pitch_bytes = 16, .row_bytes = 12, .rows = 16},
                   std::as_bytes(std::span(pattern)));
  bench.queue.enqueue(add, {{64}, {16}});
  const auto values = bench.read<std::int32_t>(data);
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(values[i] == (i % 4 == 3 ? 102 : 11 + 10 * static_cast<std::int32_t>(i % 4)));
  }
}

// The pattern is taken when the fill is enqueued.
void pattern_is_taken_at_once(const device& device) {
  fill_bench bench(device);
  const fill_region region{0, 64, 0, 36, 4, 1};
  bytes pattern = counting(12);
  const bytes after = bench.filled([&] {
    bench.queue.fill(bench.memory, region, std::as_bytes(std::span(pattern)));
    pattern.assign(12, 0);
  });
  CHECK(after == expected_after(region, counting(12)));
}

void recorded(const device& device) {
  const context context = device.create_context();
  tuning_command_queue queue = context.create_tuning_command_queue();
  const buffer memory = context.create_buffer(memory_bytes);
  const bytes pattern = counting(24);
  queue.start_recording();
  queue.fill(memory, {0, 64, 1024, 48, 3, 4}, std::as_bytes(std::span(pattern)));
  queue.zero(memory, {.row_pitch_bytes = 64, .row_bytes = 48, .rows = 3});
  queue.zero(memory, {.row_bytes = 0, .rows = 3});
  CHECK(queue.recorded() == 2);
  for (const auto time : queue.stop_recording()) CHECK(time >= std::chrono::nanoseconds{0});
}

void refused(const device& device) {
  fill_bench bench(device);
  const bytes pattern(300);
  const auto fill = [&](std::size_t size, const fill_region& region) {
    bench.queue.fill(bench.memory, region, std::as_bytes(std::span(pattern)).first(size));
  };
  constexpr std::size_t huge = ~std::size_t{0};
  CHECK_THROWS_AS(fill(0, {.row_bytes = 8}), argument_error);
  CHECK_THROWS_AS(fill(257, {.row_bytes = 257}), argument_error);
  CHECK_THROWS_AS(fill(4, {.row_bytes = 6}), argument_error);
  CHECK_THROWS_AS(fill(4, {.offset_bytes = 4, .row_bytes = memory_bytes}), argument_error);
  CHECK_THROWS_AS(fill(1, {.offset_bytes = memory_bytes + 1}), argument_error);
  CHECK_THROWS_AS(fill(1, {.offset_bytes = 1, .row_bytes = huge}), argument_error);
  CHECK_THROWS_AS(fill(1, {0, 1024, 0, 1024, 5, 1}), argument_error);
  CHECK_THROWS_AS(fill(1, {0, huge / 2 + 1, 0, 8, 3, 1}), argument_error);
  CHECK_THROWS_AS(fill(1, {0, 7, 0, 8, 2, 1}), argument_error);
  CHECK_THROWS_AS(fill(1, {0, 8, 15, 8, 2, 2}), argument_error);
  CHECK_NOTHROW(fill(1, {0, 1024, 0, 1024, 4, 1}));
  CHECK_NOTHROW(fill(1, {.offset_bytes = memory_bytes}));
  CHECK_THROWS_AS(device.create_context().create_command_queue().zero(bench.memory, 1),
                  argument_error);
}

constexpr requirement requirements[] = {
    {"a fill repeats a pattern of any size in its range alone", ranges},
    {"a fill of a region repeats its pattern in each row and leaves what is in between", regions},
    {"a pattern that repeats within itself means what it says", patterns_that_repeat},
    {"zero clears any range or region and nothing beside it", zeros},
    {"a fill of many slices reaches all of them", many_slices},
    {"a fill of many rows or a long one reaches all of it", large},
    {"a fill keeps its place among the commands of its queue", in_order},
    {"the pattern of a fill may change as soon as the call returns", pattern_is_taken_at_once},
    {"a tuning queue records each fill as one, whatever it fills", recorded},
    {"a fill that means nothing or leaves its buffer is refused", refused},
};

}  // namespace

std::span<const requirement> fill_requirements() { return requirements; }

}  // namespace tune::testing
