// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/region.hpp"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"

namespace region_test {

using tune::all;
using tune::axis_selection;
using tune::from;
using tune::new_axis;
using tune::range;
using tune::region;

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

}  // namespace region_test
