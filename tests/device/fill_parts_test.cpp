// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/fill_parts.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"

namespace fill_parts_test {

using tune::fill_region;
using tune::detail::check_fill;
using tune::detail::merged;

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

}  // namespace fill_parts_test
