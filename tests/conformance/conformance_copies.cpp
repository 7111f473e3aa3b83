// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/queue_interface.hpp"
#include "tests/conformance/conformance_requirements.hpp"

namespace tune::testing {
namespace {

using bytes = std::vector<std::uint8_t>;

struct layout {
  std::size_t offset;
  std::size_t row_pitch;
  std::size_t slice_pitch;
};

struct rectangle {
  std::size_t row_bytes;
  std::size_t rows;
  std::size_t slices;
  layout source;
  layout destination;
};

// Pitches are odd, offsets reach past a row, and slices need not be a whole number of rows apart.
constexpr rectangle rectangles[] = {
    {13, 1, 1, {3, 13, 13}, {5, 13, 13}}, {5, 4, 1, {0, 7, 28}, {0, 11, 44}},
    {5, 4, 1, {9, 7, 28}, {2, 5, 20}},    {3, 1, 5, {1, 3, 9}, {0, 3, 6}},
    {4, 3, 2, {2, 9, 36}, {31, 5, 15}},   {6, 3, 4, {0, 6, 18}, {7, 13, 52}},
    {4, 2, 3, {5, 7, 17}, {1, 5, 13}},
};

constexpr std::size_t memory_bytes = 300;

bytes counting() {
  bytes values(memory_bytes);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  return values;
}

std::size_t place(const layout& side, std::size_t slice, std::size_t row) {
  return side.offset + slice * side.slice_pitch + row * side.row_pitch;
}

// What the destination, full of 0xEE before, has to hold afterwards.
bytes expected_after(const rectangle& shape, const bytes& source) {
  bytes expected(memory_bytes, 0xEE);
  for (std::size_t slice = 0; slice < shape.slices; ++slice) {
    for (std::size_t row = 0; row < shape.rows; ++row) {
      std::copy_n(source.data() + place(shape.source, slice, row), shape.row_bytes,
                  expected.data() + place(shape.destination, slice, row));
    }
  }
  return expected;
}

detail::copy_side side(const layout& shape) {
  return {.offset_bytes = shape.offset,
          .row_pitch_bytes = shape.row_pitch,
          .slice_pitch_bytes = shape.slice_pitch};
}

enum class memory_kind { host, device };

// Host and device memory of either side, the one that is asked for and a buffer to look through.
struct copy_bench {
  explicit copy_bench(const device& device)
      : context(device.create_context()),
        queue(context.create_command_queue()),
        from(context.create_buffer(memory_bytes)),
        to(context.create_buffer(memory_bytes)) {}

  bytes copied(const rectangle& shape, memory_kind source, memory_kind destination,
               bool blocking = true) {
    bytes host_from = counting();
    bytes host_to(memory_bytes, 0xEE);
    queue.write(from, host_from.data(), memory_bytes);
    queue.write(to, host_to.data(), memory_bytes);
    detail::copy_request request{.source = side(shape.source),
                                 .destination = side(shape.destination),
                                 .row_bytes = shape.row_bytes,
                                 .rows = shape.rows,
                                 .slices = shape.slices,
                                 .blocking = blocking};
    request.source.buffer = source == memory_kind::device ? from.impl().get() : nullptr;
    request.source.host = source == memory_kind::host ? host_from.data() : nullptr;
    request.destination.buffer = destination == memory_kind::device ? to.impl().get() : nullptr;
    request.destination.host = destination == memory_kind::host ? host_to.data() : nullptr;
    queue.impl()->copy(request);
    if (destination == memory_kind::device) queue.read(to, host_to.data(), memory_bytes);
    if (!blocking) queue.finish();
    return host_to;
  }

  tune::context context;
  command_queue queue;
  buffer from;
  buffer to;
};

void check_rectangles(const device& device, memory_kind source, memory_kind destination) {
  copy_bench bench(device);
  for (const rectangle& shape : rectangles) {
    const auto index = &shape - rectangles;
    CAPTURE(index);
    const bytes expected = expected_after(shape, counting());
    CHECK(bench.copied(shape, source, destination) == expected);
    CHECK(bench.copied(shape, source, destination, false) == expected);
  }
}

void to_device(const device& device) {
  check_rectangles(device, memory_kind::host, memory_kind::device);
}

void to_host(const device& device) {
  check_rectangles(device, memory_kind::device, memory_kind::host);
}

void within_device(const device& device) {
  check_rectangles(device, memory_kind::device, memory_kind::device);
}

// OpenCL wants the same pitches on both sides here.
void within_buffer(const device& device) {
  copy_bench bench(device);
  bytes expected = counting();
  bench.queue.write(bench.from, expected.data(), memory_bytes);
  detail::copy_request request{.source = side({0, 10, 20}),
                               .destination = side({150, 10, 20}),
                               .row_bytes = 6,
                               .rows = 2,
                               .slices = 2};
  request.source.buffer = request.destination.buffer = bench.from.impl().get();
  bench.queue.impl()->copy(request);
  for (const std::size_t i : {0, 1, 2, 3}) {
    std::copy_n(expected.data() + i * 10, 6, expected.data() + 150 + i * 10);
  }
  bytes result(memory_bytes);
  bench.queue.read(bench.from, result.data(), memory_bytes);
  CHECK(result == expected);
}

void refused(const device& device) {
  copy_bench bench(device);
  bytes host(memory_bytes);
  detail::copy_request request{.source = {.host = host.data(), .row_pitch_bytes = 10},
                               .destination = {.buffer = bench.to.impl().get(),
                                               .offset_bytes = memory_bytes - 25,
                                               .row_pitch_bytes = 10},
                               .row_bytes = 6,
                               .rows = 3};
  CHECK_THROWS_AS(bench.queue.impl()->copy(request), argument_error);
  request.destination.offset_bytes = memory_bytes - 26;
  CHECK_NOTHROW(bench.queue.impl()->copy(request));
}

// Ends that are beyond all numbers, and so come out as small ones where they are added up.
void refused_beyond_all_numbers(const device& device) {
  constexpr std::size_t largest = SIZE_MAX;
  copy_bench bench(device);
  bytes host(memory_bytes, 0x55);
  const bytes before = counting();
  bench.queue.write(bench.to, before.data(), memory_bytes);
  for (const std::size_t offset : {largest, largest - 15, largest - 31, largest / 2 + 1}) {
    CAPTURE(offset);
    CHECK_THROWS_AS(bench.queue.write(bench.to, host.data(), 32, offset), argument_error);
    CHECK_THROWS_AS(bench.queue.read(bench.to, host.data(), 32, offset), argument_error);
  }
  CHECK_THROWS_AS(bench.queue.write(bench.to, host.data(), largest, 8), argument_error);
  const auto copy = [&](const layout& to, std::size_t row_bytes, std::size_t rows,
                        std::size_t slices) {
    detail::copy_request request{.source = {.host = host.data()},
                                 .destination = side(to),
                                 .row_bytes = row_bytes,
                                 .rows = rows,
                                 .slices = slices};
    request.destination.buffer = bench.to.impl().get();
    bench.queue.impl()->copy(request);
  };
  CHECK_THROWS_AS(copy({0, largest - 3, largest}, 4, 2, 1), argument_error);
  CHECK_THROWS_AS(copy({0, largest / 2 + 1, largest}, 4, 3, 1), argument_error);
  CHECK_THROWS_AS(copy({0, 8, largest / 2 + 1}, 4, 2, 3), argument_error);
  CHECK_THROWS_AS(copy({8, 8, 16}, 4, largest / 8 + 1, 1), argument_error);
  bytes after(memory_bytes);
  bench.queue.read(bench.to, after.data(), memory_bytes);
  CHECK(after == before);
}

copy_region region_of(const rectangle& shape) {
  const auto place_of = [](const layout& side) {
    return copy_place{side.offset, side.row_pitch, side.slice_pitch};
  };
  return {.row_bytes = shape.row_bytes,
          .rows = shape.rows,
          .slices = shape.slices,
          .source = place_of(shape.source),
          .destination = place_of(shape.destination)};
}

// The same rectangles as users ask for them.
void copied_by_users(const device& device) {
  copy_bench bench(device);
  for (const rectangle& shape : rectangles) {
    for (const bool blocking : {true, false}) {
      const auto index = &shape - rectangles;
      CAPTURE(index);
      CAPTURE(blocking);
      const bytes source = counting();
      const bytes expected = expected_after(shape, source);
      const bytes others(memory_bytes, 0xEE);
      bytes result(memory_bytes, 0xEE);
      bench.queue.write(bench.from, source.data(), memory_bytes);
      bench.queue.read(bench.from, std::as_writable_bytes(std::span(result)), region_of(shape),
                       blocking);
      if (!blocking) bench.queue.finish();
      CHECK(result == expected);
      for (const bool from_host : {true, false}) {
        CAPTURE(from_host);
        bench.queue.write(bench.to, others.data(), memory_bytes);
        if (from_host) {
          bench.queue.write(bench.to, std::as_bytes(std::span(source)), region_of(shape), blocking);
        } else {
          bench.queue.copy(bench.to, bench.from, region_of(shape));
        }
        bench.queue.read(bench.to, result.data(), memory_bytes);
        CHECK(result == expected);
      }
    }
  }
}

// Rows follow each other where no pitch is given.
void copied_without_pitches(const device& device) {
  copy_bench bench(device);
  const bytes source = counting();
  bench.queue.write(bench.from, std::as_bytes(std::span(source)),
                    {.row_bytes = 5, .rows = 4, .slices = 3, .source = {.offset_bytes = 7}});
  bytes result(60);
  bench.queue.read(bench.from, result.data(), result.size());
  CHECK(std::equal(result.begin(), result.end(), source.begin() + 7));
  bench.queue.copy(bench.to, bench.from, 50, 100, 10);
  bench.queue.read(bench.to, result.data(), 50, 100);
  CHECK(std::equal(result.begin(), result.begin() + 50, source.begin() + 17));
}

// Also where the pitches differ, which no driver takes within a buffer, and where rows of both
// sides lie between each other.
void moved_within_buffer(const device& device) {
  copy_bench bench(device);
  const rectangle moves[] = {{6, 3, 2, {0, 10, 40}, {100, 13, 50}},
                             {4, 5, 2, {0, 10, 60}, {5, 10, 60}},
                             {40, 1, 1, {0, 0, 0}, {40, 0, 0}},
                             {4, 1, 5, {0, 0, 9}, {150, 0, 4}}};
  for (const rectangle& shape : moves) {
    const auto index = &shape - moves;
    CAPTURE(index);
    bytes expected = counting();
    bench.queue.write(bench.from, expected.data(), memory_bytes);
    bench.queue.copy(bench.from, bench.from, region_of(shape));
    for (std::size_t slice = 0; slice < shape.slices; ++slice) {
      for (std::size_t row = 0; row < shape.rows; ++row) {
        std::copy_n(expected.data() + place(shape.source, slice, row), shape.row_bytes,
                    expected.data() + place(shape.destination, slice, row));
      }
    }
    bytes result(memory_bytes);
    bench.queue.read(bench.from, result.data(), memory_bytes);
    CHECK(result == expected);
  }
}

void of_parts(const device& device) {
  copy_bench bench(device);
  const std::size_t half = device.limits().buffer_alignment_bytes * 64;
  const buffer whole = bench.context.create_buffer(2 * half);
  const bytes source(half, 0x21);
  bench.queue.zero(whole, whole.size_bytes());
  const buffer first = bench.context.create_sub_buffer(whole, 0, half);
  const buffer second = bench.context.create_sub_buffer(whole, half, half);
  bench.queue.write(first, source.data(), half);
  bench.queue.copy(second, first,
                   {.row_bytes = 3,
                    .rows = 4,
                    .source = {.row_pitch_bytes = 8},
                    .destination = {.offset_bytes = 2, .row_pitch_bytes = 5}});
  bytes result(half);
  bench.queue.read(second, result.data(), half);
  bytes expected(half, 0);
  for (const std::size_t row : {0, 1, 2, 3}) std::fill_n(expected.begin() + 2 + row * 5, 3, 0x21);
  CHECK(result == expected);
}

void recorded(const device& device) {
  copy_bench bench(device);
  tuning_command_queue queue = bench.context.create_tuning_command_queue();
  const buffer target = bench.context.create_buffer(memory_bytes);
  const buffer part = bench.context.create_sub_buffer(bench.from, 0, memory_bytes);
  bytes host(memory_bytes);
  queue.start_recording();
  queue.write(bench.from, host.data(), memory_bytes);
  CHECK(queue.recorded() == 0);
  queue.copy(target, bench.from, memory_bytes);
  CHECK(queue.recorded() == 1);
  for (const rectangle& shape : {rectangle{4, 5, 2, {0, 10, 60}, {5, 10, 60}},
                                 {4, 1, 5, {0, 0, 9}, {150, 0, 4}},
                                 {3, 4, 3, {0, 8, 33}, {2, 5, 21}}}) {
    const std::size_t before = queue.recorded();
    queue.copy(target, part, region_of(shape));
    CHECK(queue.recorded() > before);
  }
  queue.read(target, host.data(), memory_bytes);
  const std::size_t count = queue.recorded();
  const auto times = queue.stop_recording();
  CHECK(times.size() == count);
  for (const auto time : times) CHECK(time >= std::chrono::nanoseconds{0});
}

constexpr requirement requirements[] = {
    {"a box of bytes is copied between the host and buffers, blocking or not", copied_by_users},
    {"the rows of a copy follow each other where no pitch is given", copied_without_pitches},
    {"a box of bytes is copied to another place in its buffer", moved_within_buffer},
    {"a box of bytes is copied between parts of a buffer", of_parts},
    {"a rectangle of one to three dimensions is copied from host to device", to_device},
    {"a rectangle of one to three dimensions is copied from device to host", to_host},
    {"a rectangle of one to three dimensions is copied between buffers", within_device},
    {"a rectangle is copied within a buffer", within_buffer},
    {"a tuning queue records the commands of copies on the device, and no others", recorded},
    {"a rectangle that leaves its buffer is refused, one that just fits is not", refused},
    {"a copy whose end is beyond all numbers is refused", refused_beyond_all_numbers},
};

}  // namespace

std::span<const requirement> copy_requirements() { return requirements; }

}  // namespace tune::testing
