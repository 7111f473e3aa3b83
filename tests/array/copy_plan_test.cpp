// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <vector>

#include "tests/array/numbered_array.hpp"

using tune::array_layout;
using tune::copy_rectangle;
using tune::dtype;
using tune::host_array;
using tune::shape;

namespace {

std::vector<copy_rectangle> plan(const array_layout& source, const array_layout& destination) {
  std::vector<copy_rectangle> parts;
  tune::for_each_rectangle(source, destination,
                           [&](const copy_rectangle& part) { parts.push_back(part); });
  return parts;
}

std::vector<copy_rectangle> plan(const shape& size, const shape& source, const shape& destination) {
  return plan({dtype::int32, size, source}, {dtype::int32, size, destination});
}

template <class T>
void carry_out(const host_array<T>& source, host_array<T>& destination) {
  const auto* from = reinterpret_cast<const std::byte*>(source.data());
  auto* to = reinterpret_cast<std::byte*>(destination.data());
  for (const copy_rectangle& part : plan(source.layout(), destination.layout())) {
    for (std::size_t slice = 0; slice < part.slices; ++slice) {
      for (std::size_t row = 0; row < part.rows; ++row) {
        std::memcpy(to + part.destination_offset_bytes +
                        slice * part.destination_slice_pitch_bytes +
                        row * part.destination_row_pitch_bytes,
                    from + part.source_offset_bytes + slice * part.source_slice_pitch_bytes +
                        row * part.source_row_pitch_bytes,
                    part.row_bytes);
      }
    }
  }
}

}  // namespace

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
  CHECK(parts[0].source_row_pitch_bytes == 24);
  CHECK(parts[0].destination_row_pitch_bytes == 32);
  CHECK(parts[0].source_offset_bytes == 0);
  CHECK(parts[0].destination_offset_bytes == 0);
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

TEST_CASE("what exceeds three dimensions is looped over in the order of the elements") {
  const auto parts = plan({2, 3, 2, 2, 2}, {3, 4, 3, 3, 3}, {2, 3, 2, 2, 2});
  REQUIRE(parts.size() == 6);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].source_offset_bytes == ((i / 3) * 4 + i % 3) * 27 * 4);
    CHECK(parts[i].destination_offset_bytes == i * 8 * 4);
  }
}

TEST_CASE("an empty array needs no copy") {
  CHECK(plan({0}, {0}, {4}).empty());
  CHECK(plan({3, 0, 2}, {3, 1, 2}, {4, 2, 2}).empty());
}
