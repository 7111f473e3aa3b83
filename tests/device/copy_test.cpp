// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/copy.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/fill.hpp"
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fake_device.hpp"

namespace copy_test {

using tune::argument_error;
using tune::copy_region;
using tune::fill_region;
using tune::detail::check_fill;
using tune::detail::copy_request;
using tune::detail::fill_task;
using tune::detail::fill_word_bytes;
using tune::detail::make_copy_request;
using tune::detail::merged;

std::set<std::size_t> bytes_of(const copy_request& request, const tune::detail::copy_side& side) {
  std::set<std::size_t> bytes;
  for (std::size_t slice = 0; slice < request.slices; ++slice) {
    for (std::size_t row = 0; row < request.rows; ++row) {
      for (std::size_t i = 0; i < request.row_bytes; ++i) {
        bytes.insert(side.offset_bytes + slice * side.slice_pitch_bytes +
                     row * side.row_pitch_bytes + i);
      }
    }
  }
  return bytes;
}

bool have_common(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  for (const std::size_t each : a) {
    if (b.contains(each)) return true;
  }
  return false;
}

TEST_CASE("sides overlap exactly if they have a byte in common") {
  std::minstd_rand random(5);  // NOLINT: the same each time
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  int overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t row_bytes = below(5);
    const std::size_t rows = 1 + below(4);
    const auto place = [&] {
      const std::size_t row_pitch = row_bytes + below(6);
      return tune::copy_place{below(60), row_pitch, rows * row_pitch + below(6)};
    };
    const copy_region region{row_bytes, rows, 1 + below(4), place(), place()};
    const copy_request request = make_copy_request(region, {"buffer", 1000}, {"buffer", 1000});
    const bool expected =
        have_common(bytes_of(request, request.source), bytes_of(request, request.destination));
    CAPTURE(i);
    REQUIRE(tune::detail::overlaps(request) == expected);
    overlapping += expected ? 1 : 0;
  }
  CHECK(overlapping > 300);
  CHECK(overlapping < 2700);
}

struct bench {
  bench() : context(fake.device().create_context()), queue(context.create_command_queue()) {}

  tune::testing::fake_device fake;
  tune::context context;
  tune::command_queue queue;
};

TEST_CASE_FIXTURE(bench, "a copy that leaves its memory says which side and by what") {
  const tune::buffer small = context.create_buffer(10);
  const tune::buffer large = context.create_buffer(100);
  CHECK_THROWS_WITH_AS(queue.copy(small, large, 8, 3),
                       "the destination of a copy, 8 bytes at 3, leaves the buffer of 10 bytes",
                       argument_error);
  CHECK_THROWS_WITH_AS(queue.copy(large, small, 8, 0, 3),
                       "the source of a copy, 8 bytes at 3, leaves the buffer of 10 bytes",
                       argument_error);
  std::vector<std::byte> host(20);
  const copy_region rows{.row_bytes = 4, .rows = 3, .source = {.row_pitch_bytes = 9}};
  CHECK_THROWS_WITH_AS(queue.write(large, host, rows),
                       "the source of a copy, 1 x 3 rows of 4 bytes (27 and 9 bytes apart) at 0, "
                       "leaves the host memory of 20 bytes",
                       argument_error);
  CHECK_THROWS_WITH_AS(queue.read(small, host, rows), doctest::Contains("the buffer of 10 bytes"),
                       argument_error);
  CHECK_NOTHROW(queue.read(large, host, rows));
}

TEST_CASE_FIXTURE(bench, "sizes beyond all numbers leave every memory") {
  const tune::buffer memory = context.create_buffer(100);
  std::vector<std::byte> host(100);
  const std::size_t most = SIZE_MAX;
  for (const copy_region& region :
       {copy_region{.row_bytes = most}, copy_region{.row_bytes = 2, .rows = most},
        copy_region{.row_bytes = 2, .rows = most / 2, .slices = 4},
        copy_region{.row_bytes = 2, .rows = 2, .slices = most},
        copy_region{.row_bytes = 1, .source = {.offset_bytes = most}},
        copy_region{.row_bytes = 1, .rows = 2, .source = {.row_pitch_bytes = most}}}) {
    CHECK_THROWS_AS(queue.write(memory, host, region), argument_error);
    CHECK_THROWS_AS(queue.read(memory, host, region), argument_error);
    CHECK_THROWS_AS(queue.copy(memory, memory, region), argument_error);
  }
}

TEST_CASE_FIXTURE(bench, "rows and slices that overlap on one side are refused") {
  const tune::buffer memory = context.create_buffer(100);
  const tune::buffer other = context.create_buffer(100);
  CHECK_THROWS_WITH_AS(
      queue.copy(other, memory, {.row_bytes = 4, .rows = 2, .source = {.row_pitch_bytes = 3}}),
      doctest::Contains("in the source of a copy overlap"), argument_error);
  CHECK_THROWS_WITH_AS(
      queue.copy(other, memory,
                 {.row_bytes = 4, .rows = 2, .slices = 2, .destination = {.slice_pitch_bytes = 7}}),
      doctest::Contains("in the destination of a copy overlap"), argument_error);
  CHECK_NOTHROW(queue.copy(other, memory,
                           {.row_bytes = 4, .slices = 2, .destination = {.slice_pitch_bytes = 4}}));
}

TEST_CASE_FIXTURE(bench, "a copy within a buffer does not overlap itself") {
  const tune::buffer memory = context.create_buffer(100);
  CHECK_THROWS_WITH_AS(queue.copy(memory, memory, 10, 9), doctest::Contains("overlap"),
                       argument_error);
  CHECK_THROWS_AS(queue.copy(memory, memory, 10, 0, 9), argument_error);
  CHECK_NOTHROW(queue.copy(memory, memory, 10, 10));
  CHECK_NOTHROW(queue.copy(memory, memory, 0, 5, 5));
  CHECK_NOTHROW(queue.copy(memory, memory, {.row_bytes = 0, .rows = SIZE_MAX}));
}

TEST_CASE_FIXTURE(bench, "buffers of other contexts are refused") {
  const tune::buffer own = context.create_buffer(8);
  const tune::buffer other = fake.device().create_context().create_buffer(8);
  CHECK_THROWS_WITH_AS(queue.copy(own, other, 8), doctest::Contains("another context"),
                       argument_error);
  CHECK_THROWS_AS(queue.copy(other, own, 8), argument_error);
}

TEST_CASE_FIXTURE(bench, "copies of regions allocate nothing") {
  const tune::buffer a = context.create_buffer(100);
  const tune::buffer b = context.create_buffer(100);
  std::vector<std::byte> host(100);
  const copy_region region{
      .row_bytes = 3, .rows = 4, .slices = 2, .source = {.row_pitch_bytes = 5}};
  const tune::testing::allocation_counter counter;
  queue.write(a, host, region);
  queue.copy(b, a, region);
  queue.copy(a, a, {.row_bytes = 3, .rows = 2, .destination = {50, 9, 0}});
  queue.read(b, host, region);
  CHECK(counter.count() == 0);
}

TEST_CASE_FIXTURE(bench, "copies between buffers are captured, and the graph keeps the buffers") {
  auto a = std::make_unique<tune::buffer>(context.create_buffer(4));
  const tune::buffer b = context.create_buffer(4);
  const std::uint32_t seven = 7;
  queue.write(*a, &seven, 4);
  const auto graph = queue.capture([&] { queue.copy(b, *a, 4); });
  REQUIRE(graph);
  a.reset();
  queue.zero(b, 4);
  queue.enqueue(*graph);
  std::uint32_t got = 0;
  queue.read(b, &got, 4);
  CHECK(got == 7);
}

std::size_t shortest_of(const std::string& pattern) {
  return tune::detail::shortest(std::as_bytes(std::span(pattern))).size();
}

bool same(const fill_region& a, const fill_region& b) {
  const bool rows = a.rows == 1 || a.row_pitch_bytes == b.row_pitch_bytes;
  const bool slices = a.slices == 1 || a.slice_pitch_bytes == b.slice_pitch_bytes;
  return a.offset_bytes == b.offset_bytes && a.row_bytes == b.row_bytes && a.rows == b.rows &&
         a.slices == b.slices && rows && slices;
}

TEST_CASE("rows without gaps become one") {
  CHECK(same(merged({3, 8, 0, 8, 5, 1}), {3, 0, 0, 40, 1, 1}));
  CHECK(same(merged({3, 8, 24, 8, 3, 4}), {3, 0, 0, 96, 1, 1}));
  CHECK(same(merged({3, 8, 30, 8, 3, 4}), {3, 30, 0, 24, 4, 1}));
}

TEST_CASE("slices without gaps become rows of one slice") {
  CHECK(same(merged({0, 10, 30, 8, 3, 4}), {0, 10, 0, 8, 12, 1}));
  CHECK(same(merged({0, 77, 10, 8, 1, 4}), {0, 10, 0, 8, 4, 1}));
  CHECK(same(merged({0, 77, 8, 8, 1, 4}), {0, 0, 0, 32, 1, 1}));
}

TEST_CASE("what has gaps stays as it is") {
  CHECK(same(merged({5, 10, 31, 8, 3, 4}), {5, 10, 31, 8, 3, 4}));
  CHECK(same(merged({5, 10, 0, 8, 3, 1}), {5, 10, 0, 8, 3, 1}));
  CHECK(same(merged({5, 0, 0, 8, 1, 1}), {5, 0, 0, 8, 1, 1}));
}

TEST_CASE("a pattern is as short as its meaning") {
  CHECK(shortest_of("aaaaaaaa") == 1);
  CHECK(shortest_of("abababab") == 2);
  CHECK(shortest_of("abcabc") == 3);
  CHECK(shortest_of("abcab") == 5);
  CHECK(shortest_of("aab") == 3);
  CHECK(shortest_of("a") == 1);
}

TEST_CASE("words are counted by offset, rows and the pitches that lead somewhere") {
  using tune::detail::is_counted_in;
  CHECK(is_counted_in(4, {4, 8, 16, 4, 2, 2}));
  CHECK_FALSE(is_counted_in(4, {2, 8, 16, 4, 2, 2}));
  CHECK_FALSE(is_counted_in(4, {4, 6, 16, 4, 2, 2}));
  CHECK_FALSE(is_counted_in(4, {4, 8, 18, 4, 2, 2}));
  CHECK_FALSE(is_counted_in(4, {4, 8, 16, 6, 2, 2}));
  CHECK(is_counted_in(4, {4, 6, 18, 4, 1, 1}));
}

TEST_CASE("a fill that is refused says what was asked and what is wrong") {
  CHECK_THROWS_WITH_AS(check_fill({.row_bytes = 6}, 4, 100),
                       "a fill pattern has 1 to 256 bytes and divides each row, not 4 bytes for 6 "
                       "bytes at 0",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(check_fill({1, 10, 40, 4, 3, 3}, 4, 100),
                       "a fill of 3 x 3 rows of 4 bytes (40 and 10 bytes apart) at 1 leaves the "
                       "buffer of 100 bytes",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(check_fill({0, 10, 19, 10, 2, 2}, 1, 100), doctest::Contains("overlap"),
                       tune::argument_error);
  CHECK_NOTHROW(check_fill({1, 10, 40, 4, 2, 3}, 4, 95));
}

TEST_CASE("sizes that would wrap around are refused") {
  constexpr std::size_t huge = ~std::size_t{0};
  CHECK_THROWS_AS(check_fill({8, 0, 0, huge - 3, 1, 1}, 1, 100), tune::argument_error);
  CHECK_THROWS_AS(check_fill({0, huge / 2 + 1, 0, 4, 3, 1}, 1, 100), tune::argument_error);
  CHECK_THROWS_AS(check_fill({0, 4, huge / 4 + 1, 4, 1, 5}, 1, 100), tune::argument_error);
  CHECK_THROWS_AS(check_fill({0, 4, 0, 4, huge, 1}, 1, 100), tune::argument_error);
}

TEST_CASE("a fill of nothing may begin at the end of a buffer, and no later") {
  CHECK_NOTHROW(check_fill({.offset_bytes = 100}, 1, 100));
  CHECK_NOTHROW(check_fill({.offset_bytes = 100, .row_bytes = 8, .rows = 0}, 1, 100));
  CHECK_THROWS_AS(check_fill({.offset_bytes = 101}, 1, 100), tune::argument_error);
}

fill_task task_for(const fill_region& region, std::size_t pattern_bytes) {
  std::vector<std::byte> pattern(pattern_bytes);
  for (std::size_t i = 0; i < pattern_bytes; ++i) pattern[i] = static_cast<std::byte>(i + 1);
  return tune::detail::make_fill_task(region, pattern);
}

std::size_t word_for(const fill_region& region, std::size_t pattern_bytes) {
  return fill_word_bytes.at(task_for(region, pattern_bytes).kernel);
}

constexpr tune::device_limits limits{.max_work_group_size = 1024,
                                     .max_work_group_extent = {1024, 1024, 64}};

TEST_CASE("a fill is counted in the widest words that everything is a multiple of") {
  CHECK(word_for({16, 64, 256, 48, 3, 4}, 12) == 16);
  CHECK(word_for({8, 64, 256, 48, 3, 4}, 12) == 8);
  CHECK(word_for({16, 68, 256, 48, 3, 4}, 12) == 4);
  CHECK(word_for({16, 64, 258, 48, 3, 4}, 12) == 2);
  CHECK(word_for({16, 64, 256, 45, 3, 4}, 3) == 1);
}

TEST_CASE("pitches that lead nowhere do not count") {
  CHECK(word_for({.row_pitch_bytes = 1, .slice_pitch_bytes = 1, .row_bytes = 48}, 12) == 16);
}

TEST_CASE("a pattern is repeated to whole words, if that is not too long") {
  const fill_task task = task_for({.offset_bytes = 32, .row_bytes = 480}, 12);
  CHECK(task.pattern_words == 3);
  CHECK(task.pattern_bytes() == 48);
  CHECK(task.first == 2);
  CHECK(task.row_words == 30);
  for (std::size_t i = 0; i < 48; ++i) {
    CHECK(task.pattern.at(i) == static_cast<std::byte>(i % 12 + 1));
  }
  CHECK(word_for({.row_bytes = 33 * 16}, 33) == 4);
  CHECK(word_for({.row_bytes = 251 * 16}, 251) == 1);
  CHECK(word_for({.row_bytes = 256 * 16}, 256) == 16);
}

TEST_CASE("a launch has work items for each word of small fills") {
  const auto range = tune::detail::fill_range(task_for({0, 32, 512, 16, 5, 3}, 4), limits);
  CHECK(range.global.x >= 1);
  CHECK(range.global.y >= 5);
  CHECK(range.global.z == 3);
  CHECK(range.global.x % range.local.x == 0);
  CHECK(range.global.y % range.local.y == 0);
  CHECK(range.local.total() == 64);
}

TEST_CASE("a launch of a large fill stays within what every device can launch") {
  constexpr std::size_t many = std::size_t{1} << 40;
  const auto range = tune::detail::fill_range(
      task_for({0, many, many, many, std::size_t{1} << 20, std::size_t{1} << 20}, 4), limits);
  CHECK(range.global.x / range.local.x <= 65535);
  CHECK(range.global.y / range.local.y <= 65535);
  CHECK(range.global.z / range.local.z <= 64);
}

TEST_CASE("a device with small work groups gets small ones") {
  const tune::device_limits small{.max_work_group_size = 6, .max_work_group_extent = {6, 1, 1}};
  const auto range = tune::detail::fill_range(task_for({0, 8, 0, 4, 100, 1}, 4), small);
  CHECK(range.local.x == 1);
  CHECK(range.local.y == 1);
  CHECK(range.global.y == 100);
  CHECK(tune::detail::fill_range(task_for({.row_bytes = 400}, 4), small).local.x == 4);
}

TEST_CASE("the text has a kernel for each word") {
  for (const std::size_t bytes : fill_word_bytes) {
    const std::string name = "FILL(fill_" + std::to_string(bytes) + ",";
    CHECK(tune::detail::fill_kernel_text().find(name) != std::string_view::npos);
  }
}

}  // namespace copy_test
