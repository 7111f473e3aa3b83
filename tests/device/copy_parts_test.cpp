// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/copy_parts.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace copy_parts_test {

using tune::detail::copy_request;

std::vector<copy_request> parts_of(const copy_request& wanted) {
  std::vector<copy_request> parts;
  tune::detail::for_each_part(wanted, [&](const copy_request& part) { parts.push_back(part); });
  return parts;
}

TEST_CASE("a run of bytes is one part, whatever its pitches are") {
  const auto parts = parts_of({.source = {.offset_bytes = 3}, .destination = {}, .row_bytes = 10});
  REQUIRE(parts.size() == 1);
  CHECK(tune::detail::is_linear(parts[0]));
  CHECK(parts[0].source.offset_bytes == 3);
}

TEST_CASE("slices of one row each become rows") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 1, .slice_pitch_bytes = 9},
                               .destination = {.row_pitch_bytes = 2, .slice_pitch_bytes = 8},
                               .row_bytes = 4,
                               .rows = 1,
                               .slices = 5});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].rows == 5);
  CHECK(parts[0].slices == 1);
  CHECK(parts[0].source.row_pitch_bytes == 9);
  CHECK(parts[0].destination.row_pitch_bytes == 8);
}

TEST_CASE("slices a whole number of rows apart on both sides stay together") {
  const auto parts = parts_of({.source = {.row_pitch_bytes = 5, .slice_pitch_bytes = 20},
                               .destination = {.row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                               .row_bytes = 4,
                               .rows = 2,
                               .slices = 3});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].slices == 3);
}

TEST_CASE("other slices are copied one by one") {
  const auto parts =
      parts_of({.source = {.offset_bytes = 1, .row_pitch_bytes = 5, .slice_pitch_bytes = 17},
                .destination = {.offset_bytes = 2, .row_pitch_bytes = 7, .slice_pitch_bytes = 14},
                .row_bytes = 4,
                .rows = 2,
                .slices = 3});
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].slices == 1);
    CHECK(parts[i].rows == 2);
    CHECK(parts[i].source.offset_bytes == 1 + 17 * i);
    CHECK(parts[i].destination.offset_bytes == 2 + 14 * i);
  }
}

}  // namespace copy_parts_test
