// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <doctest/doctest.h>
#include <span>
#include <vector>

#include "libtune/array/layout.hpp"
#include "libtune/base/error.hpp"

namespace shape_test {

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

}  // namespace shape_test
