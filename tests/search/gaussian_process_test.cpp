// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/gaussian_process.hpp"

#include <doctest/doctest.h>
#include <limits>

#include "libtune/search/space/random_source.hpp"
#include "tests/search/sample_spaces.hpp"

namespace gaussian_process_test {

using tune::detail::additive_kernel;
using tune::detail::candidate_pool;
using tune::detail::coordinates;
using tune::detail::gaussian_process;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

const coordinates& places() {
  static const coordinates made(tune::testing::line(21));
  return made;
}

/// Of little noise, so that the mean follows the values.
additive_kernel kernel() {
  return {places(), {.scales = std::vector<float>(places().axes(), 1.0F), .noise = 1e-4F}};
}

void observe(gaussian_process& process, const coordinates& places, std::size_t index) {
  std::vector<std::uint32_t> point(places.axes());
  places.write(index, point);
  process.add(point);
}

gaussian_process process_at(const std::vector<std::size_t>& indices) {
  gaussian_process process(kernel());
  for (const std::size_t index : indices) observe(process, places(), index);
  return process;
}

struct belief {
  float mean;
  float explained;
};

belief at(const gaussian_process& process, std::size_t index, const std::vector<float>& values) {
  std::vector<std::uint32_t> point(places().axes());
  places().write(index, point);
  std::vector<float> column;
  process.whiten(point, process.size(), column);
  const std::vector<float> whitened = process.whitened(values);
  belief found{0, 0};
  for (std::size_t i = 0; i < column.size(); ++i) {
    found.mean += column[i] * whitened[i];
    found.explained += column[i] * column[i];
  }
  return found;
}

TEST_CASE("the mean goes through what was measured, which explains all there") {
  const gaussian_process process = process_at({0, 8, 20});
  const std::vector<float> values{1, -2, 0.5F};
  CHECK(at(process, 0, values).mean == doctest::Approx(1).epsilon(0.01));
  CHECK(at(process, 8, values).mean == doctest::Approx(-2).epsilon(0.01));
  CHECK(at(process, 20, values).mean == doctest::Approx(0.5).epsilon(0.01));
  CHECK(at(process, 8, values).explained == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("between measurements the mean lies between them, and less is explained") {
  const gaussian_process process = process_at({4, 12});
  const belief between = at(process, 8, {1, 2});
  CHECK(between.mean > 0.9F);
  CHECK(between.mean < 2);
  CHECK(between.explained < at(process, 4, {1, 2}).explained);
  CHECK(between.explained > at(process, 20, {1, 2}).explained);
}

TEST_CASE("a value that is not known changes no mean, but explains") {
  const gaussian_process without = process_at({4, 12});
  const gaussian_process with = process_at({4, 8, 12});
  const float expected = at(process_at({4}), 8, {1}).mean;
  CHECK(at(with, 8, {1, unknown, unknown}).mean == doctest::Approx(expected));
  CHECK(at(with, 8, {1, unknown, 2}).explained > at(without, 8, {1, 2}).explained);
}

TEST_CASE("the same point twice does no harm") {
  const gaussian_process process = process_at({4, 4, 4});
  const float mean = at(process, 4, {1, 1, 1}).mean;
  CHECK(mean == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("values that vary smoothly are more likely under a smooth kernel") {
  const auto likelihood = [](float scale, bool smooth) {
    const additive_kernel tried(places(), {.scales = std::vector<float>(places().axes(), scale)});
    std::vector<std::uint32_t> points;
    std::vector<float> values;
    std::vector<std::uint32_t> point(places().axes());
    for (std::size_t i = 0; i < 21; ++i) {
      places().write(i, point);
      points.insert(points.end(), point.begin(), point.end());
      values.push_back(smooth ? static_cast<float>(i) / 10 - 1 : (i % 2 == 0 ? 1.0F : -1.0F));
    }
    return tune::detail::log_likelihood(tried, points, values);
  };
  CHECK(likelihood(0.5F, true) > likelihood(15, true));
  const auto preference = [&](bool smooth) {
    return likelihood(0.5F, smooth) - likelihood(15, smooth);
  };
  CHECK(preference(true) > preference(false) + 10);
}

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

TEST_CASE("candidates know the same of a process whenever they were added") {
  const coordinates places(tune::testing::line(50));
  gaussian_process process{additive_kernel(places)};
  candidate_pool pool(places);
  pool.add(10, process);
  for (const std::size_t index : {3, 30, 17}) observe(process, places, index);
  pool.update(process);
  pool.add(11, process);
  observe(process, places, 44);
  pool.update(process);

  candidate_pool late(places);
  late.update(process);
  late.add(10, process);
  late.add(11, process);
  const auto whitened = process.whitened(std::vector<float>{1, -1, 0.5F, 2});
  for (std::size_t place = 0; place < 2; ++place) {
    CHECK(pool[place] == late[place]);
    CHECK(pool.means(whitened)[place] == doctest::Approx(late.means(whitened)[place]));
    CHECK(pool.posterior_variance(place) == doctest::Approx(late.posterior_variance(place)));
  }
}

TEST_CASE("what is removed is gone, and the others keep what they know") {
  const coordinates places(tune::testing::line(50));
  gaussian_process process{additive_kernel(places)};
  observe(process, places, 25);
  candidate_pool pool(places);
  for (const std::size_t index : {1, 24, 49, 24}) pool.add(index, process);
  REQUIRE(pool.size() == 3);  // each once
  pool.update(process);
  const float left = pool.posterior_variance(2);
  pool.remove(1);
  pool.remove(7);
  REQUIRE(pool.size() == 2);
  CHECK_FALSE(pool.contains(1));
  CHECK(pool[0] == 49);
  CHECK(pool.posterior_variance(0) == left);
  CHECK(pool.posterior_variance(1) < 0.1F);
  pool.remove(24);
  pool.remove(49);
  CHECK(pool.size() == 0);
}

}  // namespace gaussian_process_test
