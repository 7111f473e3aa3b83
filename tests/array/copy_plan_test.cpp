// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "tests/array/numbered_array.hpp"

namespace copy_plan_test {

using tune::all;
using tune::array_layout;
using tune::dtype;
using tune::from;
using tune::host_array;
using tune::range;
using tune::region;
using tune::shape;
using tune::strided_layout;
using tune::detail::copy_request;

std::vector<copy_request> plan(
    const strided_layout& source, const strided_layout& destination,
    tune::detail::copy_pitches pitches = tune::detail::copy_pitches::any) {
  const tune::detail::copy_plan made(source, destination, pitches);
  std::vector<copy_request> parts;
  for (std::size_t n = 0; n < made.size(); ++n) parts.push_back(made[n]);
  return parts;
}

std::vector<copy_request> plan(const shape& size, const shape& source, const shape& destination) {
  return plan(array_layout(dtype::int32, size, source),
              array_layout(dtype::int32, size, destination));
}

template <class T>
void carry_out(const host_array<T>& source, host_array<T>& destination) {
  const auto* from = reinterpret_cast<const std::byte*>(source.data());
  auto* to = reinterpret_cast<std::byte*>(destination.data());
  for (const copy_request& part : plan(source.layout(), destination.layout())) {
    for (std::size_t slice = 0; slice < part.slices; ++slice) {
      for (std::size_t row = 0; row < part.rows; ++row) {
        std::memcpy(to + part.destination.offset_bytes +
                        slice * part.destination.slice_pitch_bytes +
                        row * part.destination.row_pitch_bytes,
                    from + part.source.offset_bytes + slice * part.source.slice_pitch_bytes +
                        row * part.source.row_pitch_bytes,
                    part.row_bytes);
      }
    }
  }
}

TEST_CASE("every padding on either side is copied, and the destination's padding is left alone") {
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    for (unsigned from = 0; from < tune::testing::paddings(size); ++from) {
      const auto source =
          tune::testing::numbered_array<std::int16_t>(size, tune::testing::padded_by(size, from));
      for (unsigned to = 0; to < tune::testing::paddings(size); ++to) {
        host_array<std::int16_t> copy(size, tune::testing::padded_by(size, to));
        copy.fill(-1);
        carry_out(source, copy);
        REQUIRE(tune::testing::elements_of(copy) ==
                tune::testing::numbers<std::int16_t>(size.elements()));
        REQUIRE(tune::testing::count_in_padded<std::int16_t>(copy, -1) ==
                copy.padded_elements() - size.elements());
      }
    }
  }
}

TEST_CASE("arrays without padding are copied in one run of bytes, whatever their rank") {
  for (const shape& size : tune::testing::shapes_of_each_rank) {
    const auto parts = plan(size, size, size);
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].row_bytes == size.elements() * 4);
    CHECK(parts[0].rows == 1);
    CHECK(parts[0].slices == 1);
  }
}

TEST_CASE("padding along the slowest axis alone still leaves one run of bytes") {
  const auto parts = plan({3, 4}, {7, 4}, {3, 4});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 48);
  CHECK(parts[0].rows == 1);
}

TEST_CASE("a padded matrix is a rectangle with the pitches of both sides") {
  const auto parts = plan({3, 4}, {3, 6}, {5, 8});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 16);
  CHECK(parts[0].rows == 3);
  CHECK(parts[0].slices == 1);
  CHECK(parts[0].source.row_pitch_bytes == 24);
  CHECK(parts[0].destination.row_pitch_bytes == 32);
  CHECK(parts[0].source.offset_bytes == 0);
  CHECK(parts[0].destination.offset_bytes == 0);
}

TEST_CASE("axes are merged where both sides are contiguous") {
  // The two slowest axes are contiguous on both sides, so four axes make one rectangle.
  const auto merged = plan({2, 3, 4, 5}, {2, 3, 4, 7}, {2, 3, 4, 8});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].row_bytes == 20);
  CHECK(merged[0].rows == 24);
  // One side alone is not enough.
  const auto apart = plan({2, 3, 4, 5}, {2, 3, 4, 7}, {2, 3, 5, 8});
  REQUIRE(apart.size() == 1);
  CHECK(apart[0].rows == 4);
  CHECK(apart[0].slices == 6);
}

TEST_CASE("axes of length one cost nothing") {
  const auto parts = plan({1, 3, 1, 4, 1}, {2, 4, 3, 5, 2}, {3, 3, 2, 4, 3});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 4);
  CHECK(parts[0].rows == 4);
  CHECK(parts[0].slices == 3);
}

TEST_CASE("what exceeds three dimensions is looped over, along the shorter axes") {
  // Rows of two elements; the axes of three and of the last two elements go into the rectangle.
  const auto parts = plan({2, 3, 2, 2, 2}, {3, 4, 3, 3, 3}, {2, 3, 2, 2, 2});
  REQUIRE(parts.size() == 4);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].rows * parts[i].slices == 6);
    CHECK(parts[i].source.offset_bytes == ((i / 2) * 4 * 27 + (i % 2) * 9) * 4);
    CHECK(parts[i].destination.offset_bytes == ((i / 2) * 24 + (i % 2) * 4) * 4);
    CHECK(parts[i].source.row_pitch_bytes < parts[i].source.slice_pitch_bytes);
  }
}

TEST_CASE("many axes of which all but two are short make few rectangles") {
  const auto parts = plan({100, 2, 2, 200, 2, 3}, {100, 3, 3, 201, 3, 4}, {100, 2, 2, 200, 2, 3});
  CHECK(parts.size() == 8);
}

TEST_CASE("an empty array needs no copy") {
  CHECK(plan({0}, {0}, {4}).empty());
  CHECK(plan({3, 0, 2}, {3, 1, 2}, {4, 2, 2}).empty());
}

TEST_CASE("a step along the fastest axis makes every element a row") {
  const array_layout layout(dtype::complex128, {20});
  const auto parts = plan({layout, {from(1, 3)}}, array_layout(dtype::complex128, {7}));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 16);
  CHECK(parts[0].rows == 7);
  CHECK(parts[0].source.offset_bytes == 16);
  CHECK(parts[0].source.row_pitch_bytes == 48);
  CHECK(parts[0].destination.row_pitch_bytes == 16);
}

TEST_CASE("whole rows with a step between them are rows") {
  const array_layout layout(dtype::int16, {9, 5});
  const auto parts = plan({layout, {from(0, 2)}}, array_layout(dtype::int16, {5, 5}));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 10);
  CHECK(parts[0].rows == 5);
  CHECK(parts[0].source.row_pitch_bytes == 20);
}

TEST_CASE("rows next to each other, of the full length, are one run of bytes") {
  const array_layout layout(dtype::int16, {9, 5});
  const auto parts =
      plan({layout, {range(2, 6)}}, {array_layout(dtype::int16, {6, 5}), {range(1, 5)}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].rows == 1);
  CHECK(parts[0].row_bytes == 40);
  CHECK(parts[0].source.offset_bytes == 20);
  CHECK(parts[0].destination.offset_bytes == 10);
}

TEST_CASE("within one buffer every rectangle has the same pitches on both sides") {
  const array_layout layout(dtype::int32, {12, 10, 8});
  const strided_layout from_region(layout, {range(0, 4), from(0, 2), range(0, 3)});
  const strided_layout to_region(layout, {range(4, 12, 2), range(0, 5), range(5, 8)});
  CHECK(plan(from_region, to_region).size() == 1);
  const auto parts = plan(from_region, to_region, tune::detail::copy_pitches::equal);
  CHECK(parts.size() == 4 * 5);
  const strided_layout same_steps(layout, {range(4, 8), from(1, 2), range(0, 3)});
  const auto whole = plan(from_region, same_steps, tune::detail::copy_pitches::equal);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].source.row_pitch_bytes == whole[0].destination.row_pitch_bytes);
  CHECK(whole[0].source.slice_pitch_bytes == whole[0].destination.slice_pitch_bytes);
  // One axis alike is enough for rows.
  const strided_layout other_step(layout, {range(4, 12, 2), from(1, 2), range(0, 3)});
  const auto rows = plan(from_region, other_step, tune::detail::copy_pitches::equal);
  REQUIRE(rows.size() == 4);
  for (const copy_request& part : rows) {
    CHECK(part.rows == 5);
    CHECK(part.source.row_pitch_bytes == part.destination.row_pitch_bytes);
  }
}

TEST_CASE("offsets and pitches of arrays over 4 GiB are right") {
  constexpr std::size_t gi = std::size_t{1} << 30;
  const array_layout source(dtype::float64, {6, 5 * gi}, {8, 6 * gi});
  const array_layout destination(dtype::float64, {9, 5 * gi}, {9, 7 * gi});
  const auto parts = plan({source, {range(2, 6), from(3 * gi)}},
                          {destination, {range(1, 9, 2), range(gi, 3 * gi)}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].row_bytes == 2 * gi * 8);
  CHECK(parts[0].rows == 4);
  CHECK(parts[0].source.offset_bytes == (2 * 6 * gi + 3 * gi) * 8);
  CHECK(parts[0].source.row_pitch_bytes == 6 * gi * 8);
  CHECK(parts[0].destination.offset_bytes == (7 * gi + gi) * 8);
  CHECK(parts[0].destination.row_pitch_bytes == 2 * 7 * gi * 8);
  const auto linear = plan(source, source);
  REQUIRE(linear.size() == 1);
  CHECK(linear[0].rows == 6);
  const array_layout dense(dtype::uint8, {7, 3 * gi});
  CHECK(plan(dense, dense).at(0).row_bytes == 21 * gi);
}

TEST_CASE("the rectangles of a loop over more than 4 GiB lie where they should") {
  constexpr std::size_t gi = std::size_t{1} << 30;
  const array_layout source(dtype::uint8, {3, 4, 4, 2 * gi}, {4, 5, 5, 3 * gi});
  const array_layout destination(dtype::uint8, {3, 4, 4, 2 * gi});
  const auto parts = plan(source, destination);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].source.offset_bytes == 2 * 25 * 3 * gi);
  CHECK(parts[2].destination.offset_bytes == 2 * 16 * 2 * gi);
}

}  // namespace copy_plan_test
