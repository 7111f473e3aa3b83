// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/layout.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <limits>

#include "libtune/base/error.hpp"

namespace layout_test {

using tune::array_layout;
using tune::dtype;
using tune::shape;

TEST_CASE("strides and size follow the padded shape") {
  const array_layout layout(dtype::int32, {17, 13}, {32, 16});
  CHECK(layout.type() == dtype::int32);
  CHECK(layout.size() == shape{17, 13});
  CHECK(layout.padded() == shape{32, 16});
  CHECK(layout.element_bytes() == 4);
  CHECK(layout.stride_bytes(0) == 64);
  CHECK(layout.stride_bytes(1) == 4);
  CHECK(layout.bytes() == 32 * 16 * 4);
}

TEST_CASE("without padding the padded shape is the shape") {
  const array_layout layout(dtype::complex128, {3, 4, 5});
  CHECK(layout.padded() == shape{3, 4, 5});
  CHECK(layout.stride_bytes(0) == 320);
  CHECK(layout.bytes() == 960);
}

TEST_CASE("an array without axes is one element, and one without elements needs no memory") {
  CHECK(array_layout(dtype::float64, {}).bytes() == 8);
  CHECK(array_layout(dtype::float64, {0, 7}).bytes() == 0);
  CHECK(array_layout(dtype::float64, {0, 7}, {2, 7}).bytes() == 112);
}

TEST_CASE("layouts are equal if type, shape and padding are") {
  const array_layout layout(dtype::int32, {3}, {4});
  CHECK(layout == array_layout(dtype::int32, {3}, {4}));
  CHECK(layout != array_layout(dtype::uint32, {3}, {4}));
  CHECK(layout != array_layout(dtype::int32, {3}));
  CHECK(layout != array_layout(dtype::int32, {4}));
}

TEST_CASE("a padded shape that is smaller or of another rank is an error that names both") {
  CHECK_THROWS_WITH_AS(array_layout(dtype::int8, {3, 4}, {3, 3}),
                       "the shape (3, 4) does not fit in the padded shape (3, 3)",
                       tune::argument_error);
  CHECK_THROWS_AS(array_layout(dtype::int8, {3}, {3, 1}), tune::argument_error);
}

TEST_CASE("an array whose size would overflow is an error, not a small array") {
  constexpr std::size_t large = std::size_t{1} << 32;
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max();
  CHECK_THROWS_WITH_AS(array_layout(dtype::float32, {large, large}),
                       "an array of float32 of the shape (4294967296, 4294967296) is larger than "
                       "any memory",
                       tune::argument_error);
  CHECK_THROWS_AS(array_layout(dtype::int8, {1}, {most + 1}), tune::argument_error);
  CHECK_THROWS_AS(array_layout(dtype::int16, {most}), tune::argument_error);
  CHECK(array_layout(dtype::int8, {most}).bytes() == most);
  CHECK(array_layout(dtype::float32, {large, 0, large}).bytes() == 0);
}

}  // namespace layout_test
