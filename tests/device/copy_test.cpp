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
#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/fake_device.hpp"

namespace copy_test {

using tune::argument_error;
using tune::copy_region;
using tune::detail::copy_request;
using tune::detail::make_copy_request;

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

}  // namespace copy_test
