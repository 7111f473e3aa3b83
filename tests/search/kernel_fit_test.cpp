// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/kernel_fit.hpp"

#include <doctest/doctest.h>

#include "libtune/search/gaussian_process.hpp"
#include "libtune/search/random_source.hpp"
#include "tests/search/sample_spaces.hpp"

namespace kernel_fit_test {

using tune::detail::additive_kernel;

TEST_CASE("an axis that matters gets a shorter length than one that does not") {
  const tune::search_space space(
      {{"matters", {-2.5, -1.5, 0.0, 1.5, 2.5}}, {"does not", {-2.5, -1.5, 0.0, 1.5, 2.5}}});
  const tune::detail::coordinates places(space);
  std::vector<std::uint32_t> points;
  std::vector<float> values;
  std::vector<std::uint32_t> point(places.axes());
  constexpr float up_and_down[] = {1, -1, 1.2F, -0.8F, 0.5F};
  for (std::size_t i = 0; i < space.size(); ++i) {
    places.write(i, point);
    points.insert(points.end(), point.begin(), point.end());
    values.push_back(up_and_down[space.choice(i)[0]]);
  }
  const additive_kernel::settings from{.scales = {1, 1}};
  const auto fitted = tune::detail::fit_kernel(places, from, points, values);
  CHECK(fitted.scales[0] > 2 * fitted.scales[1]);
  CHECK(tune::detail::log_likelihood(additive_kernel(places, fitted), points, values) >
        tune::detail::log_likelihood(additive_kernel(places, from), points, values));
}

TEST_CASE("noise is told from what parameters do") {
  const tune::search_space space = tune::testing::line(40);
  const tune::detail::coordinates places(space);
  tune::detail::random_source random(4);
  std::vector<std::uint32_t> points;
  std::vector<float> values;
  std::vector<std::uint32_t> point(places.axes());
  for (std::size_t i = 0; i < 40; ++i) {
    places.write(i, point);
    points.insert(points.end(), point.begin(), point.end());
    values.push_back(static_cast<float>(i) / 20 - 1 + static_cast<float>(random.unit()) - 0.5F);
  }
  additive_kernel::settings from;
  from.scales.assign(places.axes(), 1.0F);
  CHECK(tune::detail::fit_kernel(places, from, points, values).noise > from.noise);
}

}  // namespace kernel_fit_test
