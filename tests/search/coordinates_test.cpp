// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/coordinates.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "tests/search/sample_spaces.hpp"

namespace coordinates_test {

using tune::value;
using tune::detail::coordinates;

std::vector<value> numbers(std::initializer_list<std::int64_t> given) {
  return {given.begin(), given.end()};
}

coordinates of(std::vector<value> candidates) {
  return coordinates(tune::search_space({{"x", std::move(candidates)}}));
}

TEST_CASE("numbers that are far apart are placed by their logarithms") {
  const coordinates places = of(numbers({1, 2, 4, 16}));
  REQUIRE(places.axes() == 1);
  CHECK(places.candidates(0) == 4);
  CHECK(places.distance(0, 0, 1) == doctest::Approx(0.25));
  CHECK(places.distance(0, 3, 1) == doctest::Approx(0.75));
  CHECK(places.distance(0, 0, 3) == doctest::Approx(1));
}

TEST_CASE("numbers that are near, or not positive, are placed by themselves") {
  CHECK(of({2.5, 3.0, 4.5}).distance(0, 0, 1) == doctest::Approx(0.25));
  CHECK(of(numbers({0, 1, 10})).distance(0, 0, 1) == doctest::Approx(0.1));
  CHECK(of({false, true}).distance(0, 0, 1) == doctest::Approx(1));
}

TEST_CASE("integers have a second axis by how far they are from a power of two") {
  const coordinates places = of(numbers({16, 32, 48, 80, 96}));
  REQUIRE(places.axes() == 2);
  CHECK(places.distance(1, 0, 1) == 0);
  CHECK(places.distance(1, 2, 4) == doctest::Approx(0));  // 3 x 16 and 3 x 32
  CHECK(places.distance(1, 0, 3) == doctest::Approx(1));  // 5 x 16
  CHECK(places.distance(1, 0, 2) == doctest::Approx(std::log(3) / std::log(5)));
  const std::array<std::uint32_t, 2> forty_eight{2, 2};
  CHECK(places.oddness(forty_eight) == doctest::Approx(std::log(3) / std::log(5)));
  const std::array<std::uint32_t, 2> sixteen{0, 0};
  CHECK(places.oddness(sixteen) == 0);
}

TEST_CASE("candidates that are no numbers are equally far from each other") {
  const coordinates places = of({std::string("a"), std::string("b"), std::int64_t{3}});
  CHECK(places.axes() == 1);
  CHECK(places.distance(0, 0, 1) == 1);
  CHECK(places.distance(0, 0, 2) == 1);
  CHECK(places.distance(0, 1, 1) == 0);
}

TEST_CASE("numbers as far apart as numbers can be have finite places") {
  constexpr double most = std::numeric_limits<double>::max();
  const coordinates places = of({-most, 0.0, most});
  CHECK(places.distance(0, 0, 1) == doctest::Approx(0.5));
  CHECK(places.distance(0, 0, 2) == doctest::Approx(1));
}

TEST_CASE("parameters of one candidate have no axis") {
  const coordinates places(tune::search_space(
      {{"fixed", numbers({7})}, tune::testing::counting("x", 3), {"also", {false}}}));
  CHECK(places.axes() == 1);
  std::array<std::uint32_t, 1> point{};
  places.write(2, point);
  CHECK(point[0] == 2);
}

}  // namespace coordinates_test
