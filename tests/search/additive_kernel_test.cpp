// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/additive_kernel.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "tests/search/sample_spaces.hpp"

namespace additive_kernel_test {

using tune::detail::additive_kernel;
using tune::detail::coordinates;

const coordinates& places() {
  // Half numbers, so that there are no axes but these.
  static const coordinates made(
      tune::search_space({{"a", {-1.5, 0.0, 1.5}}, {"b", {-1.5, 0.0, 1.5}}, {"c", {false, true}}}));
  return made;
}

using point = std::vector<std::uint32_t>;

float alike(const additive_kernel& kernel, const point& one, const point& other) {
  return kernel(one.data(), other.data());
}

TEST_CASE("a point is like itself, and less like others the more they differ") {
  const additive_kernel kernel(places());
  CHECK(alike(kernel, {0, 0, 0}, {0, 0, 0}) == doctest::Approx(1));
  const float near = alike(kernel, {0, 0, 0}, {1, 0, 0});
  const float far = alike(kernel, {0, 0, 0}, {2, 0, 0});
  const float all = alike(kernel, {0, 0, 0}, {2, 2, 1});
  CHECK(near < 1);
  CHECK(far < near);
  CHECK(all < far);
  CHECK(all > 0);
  CHECK(alike(kernel, {1, 0, 0}, {0, 0, 0}) == near);
}

TEST_CASE("an axis of a great length hardly matters") {
  const additive_kernel kernel(places(), {.scales = {0.01F, 1, 1}});
  CHECK(alike(kernel, {0, 0, 0}, {2, 0, 0}) == doctest::Approx(1).epsilon(0.001));
}

TEST_CASE("with the weight on single parameters, one that is equal counts for itself") {
  const additive_kernel kernel(places(), {.scales = {20, 20, 20}, .single = 1e6F, .pair = 1e-6F});
  CHECK(alike(kernel, {0, 0, 0}, {2, 2, 0}) == doctest::Approx(1.0 / 3).epsilon(0.01));
  CHECK(alike(kernel, {0, 0, 0}, {2, 0, 0}) == doctest::Approx(2.0 / 3).epsilon(0.01));
}

TEST_CASE("with the weight on pairs, those of which both are equal count") {
  const additive_kernel kernel(places(), {.scales = {20, 20, 20}, .single = 1e-6F, .pair = 1e6F});
  CHECK(alike(kernel, {0, 0, 0}, {2, 0, 0}) == doctest::Approx(1.0 / 3).epsilon(0.01));
  CHECK(alike(kernel, {0, 0, 0}, {2, 2, 0}) == doctest::Approx(0).epsilon(0.01));
}

TEST_CASE("many points at once are compared as one by one") {
  const additive_kernel kernel(places(), {.scales = {0.5F, 2, 1}, .single = 0.3F, .pair = 2});
  const point one{1, 2, 0};
  const std::vector<point> by_axis{{0, 1, 2, 1}, {0, 2, 1, 0}, {1, 0, 1, 0}};
  std::vector<float> results(4);
  kernel.compare(one.data(), by_axis, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const point other{by_axis[0][i], by_axis[1][i], by_axis[2][i]};
    CHECK(results[i] == doctest::Approx(alike(kernel, one, other)));
  }
}

TEST_CASE("without axes everything is the same") {
  const coordinates none(tune::search_space({}));
  const additive_kernel kernel(none);
  CHECK(kernel(nullptr, nullptr) == doctest::Approx(1));
}

using tune::value;

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
  CHECK(places.power_distance(forty_eight) == doctest::Approx(std::log(3) / std::log(5)));
  const std::array<std::uint32_t, 2> sixteen{0, 0};
  CHECK(places.power_distance(sixteen) == 0);
}

TEST_CASE("two sizes, one after the other, have an axis for their product") {
  const coordinates places(
      tune::search_space({{"x", numbers({1, 2, 4, 8})},
                          {"flag", numbers({0, 1})},        // no size
                          {"close", numbers({4, 8})},       // of about the same size
                          {"y", numbers({1, 2, 4, 8})}}));  // after x among the sizes
  REQUIRE(places.axes() == 5);
  CHECK(places.candidates(4) == 7);  // 1 to 64
  const auto product = [&](std::uint32_t x, std::uint32_t flag, std::uint32_t y) {
    std::array<std::uint32_t, 5> point{};
    places.write(((x * 2 + flag) * 2 + 1) * 4 + y, point);
    return point[4];
  };
  CHECK(product(0, 0, 0) == 0);
  CHECK(product(3, 0, 1) == product(1, 1, 3));  // 8 x 2 and 2 x 8
  CHECK(product(3, 0, 3) == 6);
  CHECK(places.distance(4, product(0, 0, 1), product(1, 0, 1)) ==
        doctest::Approx(1.0 / 6).epsilon(0.05));
  CHECK(places.distance(4, 0, 6) == doctest::Approx(1));
}

TEST_CASE("products of many candidates share few places") {
  tune::parameter x{"x", {}};
  tune::parameter y{"y", {}};
  for (std::int64_t i = 1; i <= 60; ++i) {
    x.candidates.emplace_back(i);
    y.candidates.emplace_back(i);
  }
  const coordinates places(tune::search_space({x, y}));
  REQUIRE(places.axes() == 5);  // numbers, distances to powers of two, and the product
  CHECK(places.candidates(4) <= 64);
}

TEST_CASE("numbers of a great many share few places, in their order") {
  tune::parameter many{"many", {}};
  for (int i = 0; i < 100'000; ++i) many.candidates.emplace_back(i - 0.5);
  const coordinates made(tune::search_space({many}));
  CHECK(made.axes() == 1);
  CHECK(made.candidates(0) <= 512);
  point first(1);
  point middle(1);
  point last(1);
  made.write(0, first);
  made.write(50'000, middle);
  made.write(99'999, last);
  CHECK(made.distance(0, first[0], middle[0]) == doctest::Approx(0.5).epsilon(0.01));
  CHECK(made.distance(0, first[0], last[0]) == doctest::Approx(1));
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

}  // namespace additive_kernel_test
