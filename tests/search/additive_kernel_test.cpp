// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/additive_kernel.hpp"

#include <doctest/doctest.h>

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

}  // namespace additive_kernel_test
