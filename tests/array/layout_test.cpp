// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/layout.hpp"

#include <array>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"

namespace layout_test {

using tune::array_layout;
using tune::dtype;
using tune::shape;

TEST_CASE("a shape knows its extents, the slowest axis first") {
  const shape s{2, 3, 4};
  CHECK(s.rank() == 3);
  CHECK(s[0] == 2);
  CHECK(s[2] == 4);
  CHECK(std::vector<std::size_t>(s.begin(), s.end()) == std::vector<std::size_t>{2, 3, 4});
  CHECK(s.elements() == 24);
}

TEST_CASE("a shape without axes has one element, and one with an extent of zero has none") {
  CHECK(shape().rank() == 0);
  CHECK(shape().elements() == 1);
  CHECK(shape{0}.elements() == 0);
  CHECK(shape{3, 0, 5}.elements() == 0);
}

TEST_CASE("a shape is made from a span of extents") {
  const std::array<std::size_t, 3> extents{7, 8, 9};
  CHECK(shape(std::span(extents)) == shape{7, 8, 9});
  CHECK(shape(std::span(extents).first(0)) == shape());
}

TEST_CASE("shapes are equal if all their extents are, and so is their rank") {
  CHECK(shape{2, 3} == shape{2, 3});
  CHECK(shape{2, 3} != shape{3, 2});
  CHECK(shape{2} != shape{2, 1});
  CHECK(shape() != shape{0});
}

TEST_CASE("eight axes are possible, nine are an error that says so") {
  CHECK(shape{1, 1, 1, 1, 1, 1, 1, 2}.elements() == 2);
  CHECK_THROWS_WITH_AS((shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), "an array has at most 8 axes, not 9",
                       tune::argument_error);
}

TEST_CASE("a shape is written as a tuple") {
  CHECK(to_string(shape()) == "()");
  CHECK(to_string(shape{3}) == "(3,)");
  CHECK(to_string(shape{3, 4, 5}) == "(3, 4, 5)");
}

TEST_CASE("a shape fits in one of the same rank that is nowhere smaller") {
  CHECK(fits_in(shape{3, 4}, shape{3, 4}));
  CHECK(fits_in(shape{3, 4}, shape{5, 4}));
  CHECK(fits_in(shape(), shape()));
  CHECK_FALSE(fits_in(shape{3, 4}, shape{5, 3}));
  CHECK_FALSE(fits_in(shape{3, 4}, shape{4, 3}));
  CHECK_FALSE(fits_in(shape{3}, shape{3, 1}));
}

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
