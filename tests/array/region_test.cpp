// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/region.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/error.hpp"

namespace region_test {

using tune::all;
using tune::array_layout;
using tune::axis_selection;
using tune::dtype;
using tune::from;
using tune::new_axis;
using tune::range;
using tune::region;
using tune::shape;
using tune::strided_layout;

TEST_CASE("a region is written as numpy does") {
  CHECK(to_string(region{2, range(3, 7, 2), new_axis, all, from(-5)}) ==
        "[2, 3:7:2, newaxis, :, -5:]");
  CHECK(to_string(region{range(0, 5), from(0, 3), range(3, 0, -1), from(2, 4)}) ==
        "[:5, ::3, 3:0:-1, 2::4]");
  CHECK(to_string(region{-1}) == "[-1]");
  CHECK(to_string(region{}) == "[...]");
}

TEST_CASE("a region is made from a span too") {
  const std::array<axis_selection, 3> items{axis_selection(1), axis_selection(all),
                                            axis_selection(range(0, 2))};
  CHECK(to_string(region(std::span(items))) == "[1, :, :2]");
  CHECK(region(std::span(items).first(0)).selections().empty());
}

TEST_CASE("any type of integer is an index, and none wraps around") {
  CHECK(axis_selection(std::int8_t{-3}).indices().first() == -3);
  CHECK(axis_selection(std::uint64_t{7}).indices().first() == 7);
  // As where one is subtracted from zero.
  CHECK(axis_selection(std::numeric_limits<std::size_t>::max()).indices().first() ==
        std::numeric_limits<std::ptrdiff_t>::max());
  CHECK(range(0, std::numeric_limits<std::size_t>::max()).end() ==
        std::numeric_limits<std::ptrdiff_t>::max());
  static_assert(!std::is_convertible_v<bool, axis_selection>);
  static_assert(!std::is_convertible_v<double, axis_selection>);
}

TEST_CASE("a region has room for all axes and as many new ones, and no more") {
  const std::vector<axis_selection> most(region::max_selections, axis_selection(new_axis));
  CHECK(region(most).selections().size() == 16);
  const std::vector<axis_selection> more(region::max_selections + 1, axis_selection(new_axis));
  CHECK_THROWS_WITH_AS(region{std::span(more)}, "a region selects along at most 16 axes, not 17",
                       tune::argument_error);
}

strided_layout of_ten(const region& selected) {
  return {array_layout(dtype::uint8, {10}, {16}), selected};
}

void check_refused(const shape& size, const region& selected, const char* text) {
  const array_layout layout(dtype::int32, size);
  CHECK_THROWS_WITH_AS(strided_layout(layout, selected), text, tune::argument_error);
}

constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::ptrdiff_t least = std::numeric_limits<std::ptrdiff_t>::min();

TEST_CASE("a whole array is its own region") {
  const array_layout layout(dtype::int32, {17, 13}, {32, 16});
  for (const strided_layout& whole :
       {strided_layout(layout), strided_layout(layout, {}), strided_layout(layout, {all, all})}) {
    CHECK(whole.type() == dtype::int32);
    CHECK(whole.size() == shape{17, 13});
    CHECK(whole.offset_bytes() == 0);
    CHECK(whole.stride_bytes(0) == 64);
    CHECK(whole.stride_bytes(1) == 4);
  }
}

TEST_CASE("an index takes its axis away, a new axis adds one, and what is not named comes whole") {
  const array_layout layout(dtype::int16, {4, 5, 6}, {4, 7, 8});
  const strided_layout plane(layout, {1, new_axis, range(1, 5, 3)});
  CHECK(plane.size() == shape{1, 2, 6});
  CHECK(plane.offset_bytes() == (56 + 8) * 2);
  CHECK(plane.stride_bytes(1) == 3 * 8 * 2);
  CHECK(plane.stride_bytes(2) == 2);
  const strided_layout element(layout, {-1, -5, -6});
  CHECK(element.size() == shape{});
  CHECK(element.offset_bytes() == 3 * 56 * 2);
}

TEST_CASE("an array without axes can be given some") {
  const array_layout layout(dtype::float64, {});
  CHECK(strided_layout(layout, {}).size() == shape{});
  CHECK(strided_layout(layout, {new_axis, new_axis}).size() == shape{1, 1});
}

TEST_CASE("ranges have as many elements as numpy's") {
  CHECK(of_ten({range(0, 5, 2)}).size() == shape{3});
  CHECK(of_ten({from(0, 3)}).size() == shape{4});
  CHECK(of_ten({range(0, 1, 2)}).size() == shape{1});
  CHECK(of_ten({from(9, 100)}).size() == shape{1});
  CHECK(of_ten({from(1, 9)}).size() == shape{1});
  CHECK(of_ten({from(0, 9)}).size() == shape{2});
  CHECK(of_ten({range(2, -2)}).size() == shape{6});
  CHECK(of_ten({from(-3)}).size() == shape{3});
  CHECK(of_ten({from(-3)}).offset_bytes() == 7);
}

TEST_CASE("what leaves the axis is cut off, as long as something is left") {
  CHECK(of_ten({range(5, 20)}).size() == shape{5});
  CHECK(of_ten({range(-20, 3)}).size() == shape{3});
  CHECK(of_ten({range(-20, 3)}).offset_bytes() == 0);
  CHECK(of_ten({range(least, most, most)}).size() == shape{1});
  CHECK(of_ten({range(least, most)}).size() == shape{10});
}

TEST_CASE("the first and the last index exist, by either name") {
  CHECK(of_ten({0}).offset_bytes() == 0);
  CHECK(of_ten({9}).offset_bytes() == 9);
  CHECK(of_ten({-1}).offset_bytes() == 9);
  CHECK(of_ten({-10}).offset_bytes() == 0);
}

TEST_CASE("more indices than axes are an error") {
  check_refused({10}, {1, 2},
                "the region [1, 2] selects along 2 axes, but an array of shape (10,) has 1");
  check_refused({}, {0}, "the region [0] selects along 1 axis, but an array of shape () has 0");
}

TEST_CASE("an index that does not exist is an error that names it, the axis and its extent") {
  check_refused({10}, {10},
                "the region [10] asks for index 10 along axis 0, which has 10 elements");
  check_refused({3, 1}, {all, -2},
                "the region [:, -2] asks for index -2 along axis 1, which has 1 element");
  for (const std::ptrdiff_t index : {std::ptrdiff_t{-11}, most, least}) {
    CHECK_THROWS_AS(of_ten({index}), tune::argument_error);
  }
  CHECK_THROWS_AS(of_ten({std::size_t{0} - 1}), tune::argument_error);
}

TEST_CASE("a range of nothing is an error") {
  check_refused({10}, {range(10, 12)},
                "the region [10:12] selects nothing along axis 0, which has 10 elements");
  check_refused({10}, {range(2, 2)},
                "the region [2:2] selects nothing along axis 0, which has 10 elements");
  CHECK_THROWS_AS(of_ten({range(5, 3)}), tune::argument_error);
  CHECK_THROWS_AS(of_ten({range(-20, -10)}), tune::argument_error);
  check_refused({3, 0}, {all, from(0)},
                "the region [:, :] selects nothing along axis 1, which has 0 elements");
}

TEST_CASE("all of an axis without elements is no error") {
  const array_layout layout(dtype::int32, {3, 0, 2});
  CHECK(strided_layout(layout, {1}).size() == shape{0, 2});
  CHECK(strided_layout(layout, {all, all, 1}).size() == shape{3, 0});
}

TEST_CASE("a step that is not positive is an error") {
  check_refused({10}, {range(3, 0, -1)},
                "the region [3:0:-1] asks for the step -1 along axis 0, which has 10 elements");
  check_refused({10}, {range(0, 3, 0)},
                "the region [:3:0] asks for the step 0 along axis 0, which has 10 elements");
}

TEST_CASE("more new axes than a shape has room for are an error") {
  check_refused({2, 2, 2, 2, 2, 2, 2, 2}, {new_axis},
                "the region [newaxis] of an array of shape (2, 2, 2, 2, 2, 2, 2, 2) would have 9 "
                "axes, and the most is 8");
  const array_layout layout(dtype::int8, {2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(strided_layout(layout, {new_axis, 1}).size().rank() == 8);
}

TEST_CASE("offsets and strides over 4 GiB are right") {
  constexpr std::size_t gi = std::size_t{1} << 30;
  const array_layout layout(dtype::float32, {5, 3 * gi}, {5, 4 * gi});
  const strided_layout part(layout, {from(4), from(2 * gi, 2)});
  CHECK(part.offset_bytes() == (4 * (4 * gi) + 2 * gi) * 4);
  CHECK(part.size() == shape{1, gi / 2});
  CHECK(strided_layout(layout, {from(0, 3)}).stride_bytes(0) == 3 * (4 * gi) * 4);
}

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

}  // namespace region_test
