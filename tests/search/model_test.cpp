// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "libtune/search/model/additive_kernel.hpp"
#include "libtune/search/model/gaussian_process.hpp"
#include "libtune/search/model/loss_bound.hpp"
#include "libtune/search/model/observations.hpp"
#include "libtune/search/model/surrogate.hpp"
#include "libtune/search/seeds/seed_choice.hpp"
#include "libtune/search/space/random_source.hpp"
#include "tests/search/sample_searches.hpp"
#include "tests/search/sample_spaces.hpp"

namespace model_test {

using tune::similar_search;
using tune::detail::additive_kernel;
using tune::detail::candidate_pool;
using tune::detail::coordinates;
using tune::detail::failure_rates;
using tune::detail::gaussian_process;
using tune::detail::observations;
using tune::detail::random_source;
using tune::detail::surrogate;

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

TEST_CASE("the most promising one has been neither expected nor told") {
  const tune::search_space space = tune::testing::line(30);
  random_source random(1);
  surrogate model(space, random);
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < 30; ++i) {
    const auto index = model.most_promising();
    REQUIRE(index);
    CHECK(seen.insert(*index).second);
    if (i % 2 == 0) {
      model.expect(*index);
    } else {
      model.learn(*index, i % 3 == 0 ? std::nullopt : std::optional(1.0 + static_cast<double>(i)));
    }
  }
  CHECK_FALSE(model.most_promising());
}

TEST_CASE("expected ones push others away from themselves") {
  const tune::search_space space = tune::testing::line(1000);
  random_source random(1);
  surrogate model(space, random);
  for (const std::size_t index : {100U, 300U, 500U, 700U, 900U}) {
    const double off = static_cast<double>(index) - 500;
    model.learn(index, 2 + off * off / 1e5);
  }
  const std::size_t first = *model.most_promising();
  model.expect(first);
  const std::size_t second = *model.most_promising();
  CHECK(std::abs(static_cast<double>(first) - static_cast<double>(second)) > 5);
}

TEST_CASE("more answers than it looks back at are taken") {
  const tune::search_space space = tune::testing::wide_space();
  random_source random(1);
  surrogate model(space, random);
  double best = 1e300;
  for (int i = 0; i < 600; ++i) {
    const std::size_t index = *model.most_promising();
    const auto score = tune::testing::valley(space, index);
    if (score) best = std::min(best, *score);
    model.learn(index, score);
  }
  CHECK(best == 1);
}

TEST_CASE("a parameter may have a great many candidates") {
  const tune::search_space space = tune::testing::line(100'000);
  random_source random(1);
  surrogate model(space, random);
  double best = 1e300;
  for (int i = 0; i < 30; ++i) {
    const std::size_t index = *model.most_promising();
    const double score = 1 + std::abs(static_cast<double>(index) - 30'000) / 1000;
    best = std::min(best, score);
    model.learn(index, score);
  }
  CHECK(best < 5);
}

TEST_CASE("before anything is known, powers of two are preferred") {
  tune::parameter sizes{"size", {}};
  for (std::int64_t size = 16; size <= 1024; size += 16) sizes.candidates.emplace_back(size);
  const tune::search_space space({sizes, tune::testing::counting("b", 50)});
  int powers = 0;
  constexpr int draws = 200;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    random_source random(seed);
    const std::size_t size = 16 * (space.choice(*surrogate(space, random).most_promising())[0] + 1);
    if ((size & (size - 1)) == 0) ++powers;
  }
  CHECK(powers > draws * 2 * 7 / 64);  // 7 of 64 are
}

observations told(const std::vector<std::optional<double>>& scores) {
  observations all;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    all.add(i);
    all.tell(i, scores[i]);
  }
  return all;
}

TEST_CASE("targets are in the order of the scores, with a mean of 0 and a variance of 1") {
  const auto targets = told({8.0, 1.0, 4.0, 2.0, 1000.0}).targets();
  REQUIRE(targets.size() == 5);
  CHECK(targets[1] < targets[3]);
  CHECK(targets[3] < targets[2]);
  CHECK(targets[2] < targets[0]);
  CHECK(targets[0] < targets[4]);
  float sum = 0;
  float squares = 0;
  for (const float target : targets) {
    sum += target;
    squares += target * target;
  }
  CHECK(sum == doctest::Approx(0).epsilon(1e-4));
  CHECK(squares / 5 == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("the same ratio is the same distance among fast ones, and less among slow ones") {
  const auto targets = told({1.0, 2.0, 4.0, 8.0, 16.0}).targets();
  CHECK(targets[1] - targets[0] == doctest::Approx(targets[2] - targets[1]));
  CHECK(targets[4] - targets[3] < (targets[1] - targets[0]) / 2);
}

TEST_CASE("a target knows the part of a score that it stands for") {
  const observations all = told({8.0, 1.0, 4.0, 2.0, 16.0});
  const auto targets = all.targets();
  CHECK((targets[3] - targets[1]) * all.unit() == doctest::Approx(std::log(2.0)));
  CHECK(told({3.0, 3.0}).unit() == 0);
  CHECK(std::isinf(told({3.0, -3.0}).unit()));
}

TEST_CASE("scores of something to maximise count by their ratios, too") {
  const auto targets = told({-16.0, -8.0, -4.0, -2.0, -1.0}).targets();
  const auto times = told({1.0, 2.0, 4.0, 8.0, 16.0}).targets();
  for (std::size_t i = 0; i < 5; ++i) CHECK(targets[i] == doctest::Approx(times[i]));
}

TEST_CASE("the best are listed, the best of all first") {
  CHECK(told({8.0, 1.0, std::nullopt, 2.0}).best(2) == std::vector<std::size_t>{1, 3});
  CHECK(told({8.0, std::nullopt}).best(2) == std::vector<std::size_t>{0});
}

TEST_CASE("scores of both signs count by their ranks") {
  constexpr double most = std::numeric_limits<double>::max();
  const auto targets = told({-most, 0.0, most, -1.0}).targets();
  for (const float target : targets) CHECK(std::isfinite(target));
  CHECK(targets[0] < targets[3]);
  CHECK(targets[3] < targets[1]);
  CHECK(targets[1] < targets[2]);
}

TEST_CASE("equal scores and single ones have targets too") {
  for (const float target : told({3.0, 3.0, 3.0}).targets()) CHECK(target == 0);
  CHECK(told({3.0}).targets()[0] == 0);
}

TEST_CASE("what failed or has not been told has no target") {
  observations all = told({1.0, std::nullopt, 2.0});
  all.add(9);
  CHECK(std::isnan(all.targets()[1]));
  CHECK(std::isnan(all.targets()[3]));
  CHECK(all.successes() == 2);
  CHECK(all.failed() == 1);
  const auto failures = all.failures();
  CHECK(failures[1] - failures[0] == doctest::Approx(1));
  CHECK(std::isnan(failures[3]));
  CHECK(all.usual_failure() == doctest::Approx(1.5 / 5));
}

TEST_CASE("the best and the latest are kept, and the best score even if it is not") {
  observations all;
  for (std::size_t i = 0; i < 10; ++i) {
    all.add(i);
    all.tell(i, i == 3 ? 1.0 : 10.0 + static_cast<double>(i));
  }
  all.forget_all_but(4);
  REQUIRE(all.size() == 4);
  CHECK(all[0].index == 3);
  CHECK(all[1].index == 0);
  CHECK(all[2].index == 8);
  CHECK(all[3].index == 9);
  CHECK(all.best()->index == 3);
  CHECK_MESSAGE(all.contains(5), "it is known to have been tried");
  CHECK_MESSAGE(all.add(5), "but it can be observed again");
  all.tell(5, 0.5);
  CHECK(all.best()->index == 5);
}

using point = std::vector<std::uint32_t>;

TEST_CASE("what was never seen is expected to succeed as all do") {
  failure_rates rates;
  CHECK(rates.success(0, 3) == 1);
  rates.learn(point{1, 2}, true);
  CHECK(rates.success(0, 7) == 1);
  CHECK(rates.success(5, 0) == 1);
}

TEST_CASE("a candidate that always fails is expected to, the more often it was seen") {
  failure_rates rates;
  double before = 1;
  for (int i = 0; i < 20; ++i) {
    rates.learn(point{0, 0}, false);
    rates.learn(point{1, 0}, true);
    const double now = rates.success(0, 1);
    CHECK(now < before);
    before = now;
  }
  CHECK(before < 0.1);
  CHECK(rates.success(0, 0) == 1);
  CHECK(rates.success(1, 0) == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("where all fail alike no candidate is to blame") {
  failure_rates rates;
  for (std::uint32_t i = 0; i < 100; ++i) rates.learn(point{i % 5, i % 2}, i % 10 < 5);
  for (std::uint32_t i = 0; i < 2; ++i) CHECK(rates.success(1, i) > 0.7);
}

TEST_CASE("the bound of losses is a quantile, and infinite for few") {
  CHECK(std::isinf(tune::loss_bound({0.3, 0.1, 0.2}, 0.9)));
  CHECK(tune::loss_bound({9, 1, 2, 3, 4, 5, 6, 7, 8}, 0.9) == 9);
  CHECK(tune::loss_bound({9, 1, 2, 3, 4, 5, 6, 7, 8}, 0.5) == 5);
}

using numbers = std::vector<std::size_t>;

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST_CASE("losses are relative to the best of a search") {
  const similar_search search{.times = {{1, 100}, {2, 105}, {3, infinite}}};
  CHECK(search.best() == 100);
  CHECK(*search.loss(1) == 0);
  CHECK(*search.loss(2) == doctest::Approx(0.05));
  CHECK(std::isinf(*search.loss(3)));
  CHECK_FALSE(search.loss(4));
  CHECK(std::isinf(similar_search{}.best()));
}

TEST_CASE("one search gives its best configurations in their order, and none that failed") {
  const std::vector<similar_search> one{{.times = {{7, 30}, {8, 10}, {9, 20}, {5, infinite}}}};
  CHECK(tune::rank_seeds(one, 16) == numbers{8, 9, 7});
  CHECK(tune::rank_seeds(one, 2) == numbers{8, 9});
  CHECK(tune::rank_seeds({}, 16).empty());
}

TEST_CASE("seeds cover all searches before they repeat what one of them likes") {
  // 1 and 2 are good at both of two searches, 3 at the third alone.
  const std::vector<similar_search> three{{.distance = 1, .times = {{1, 100}, {2, 101}, {3, 180}}},
                                          {.distance = 1, .times = {{1, 100}, {2, 101}, {3, 180}}},
                                          {.distance = 1, .times = {{1, 180}, {2, 180}, {3, 100}}}};
  CHECK(tune::rank_seeds(three, 16) == numbers{1, 3, 2});
}

TEST_CASE("the nearest search counts most") {
  std::vector<similar_search> two{{.distance = 4, .times = {{1, 100}, {2, 150}}},
                                  {.distance = 0.1, .times = {{1, 150}, {2, 100}}}};
  CHECK(tune::rank_seeds(two, 1) == numbers{2});
  std::swap(two[0].distance, two[1].distance);
  CHECK(tune::rank_seeds(two, 1) == numbers{1});
}

/// Searches on a line, a unit apart: at x, configuration i takes 1 + |x - 4 i| / 40.
std::vector<similar_search> line(std::size_t count, double from) {
  std::vector<similar_search> searches;
  for (std::size_t x = 0; x < count; ++x) {
    similar_search& one = searches.emplace_back();
    one.distance = std::abs(static_cast<double>(x) - from);
    one.is_whole = one.has_all = true;
    for (std::size_t i = 0; i < 12; ++i) {
      one.times[i] = 1 + std::abs(static_cast<double>(x) - 4 * static_cast<double>(i)) / 40;
    }
  }
  return searches;
}

double apart(std::size_t a, std::size_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

TEST_CASE("with few whole searches no bound is known, and partial ones are not asked") {
  std::size_t judges = 0;
  auto searches = line(8, 3.5);
  auto losses = tune::losses_of_seeds(searches, apart, 16, judges);
  REQUIRE(losses.size() == 16);
  CHECK(judges == 8);
  CHECK(std::isinf(losses.back().bound));
  CHECK(losses.back().expected < 0.01);
  searches = line(24, 11.5);
  losses = tune::losses_of_seeds(searches, apart, 16, judges);
  CHECK(judges == 24);
  CHECK(losses.back().bound < 0.01);
  for (std::size_t i = 0; i < searches.size(); i += 2) searches[i].is_whole = false;
  losses = tune::losses_of_seeds(searches, apart, 16, judges);
  CHECK(judges == 12);
  CHECK(tune::losses_of_seeds({}, apart, 16, judges).size() == 16);
  CHECK(judges == 0);
}

TEST_CASE("more seeds never lose more") {
  std::size_t judges = 0;
  const auto losses = tune::losses_of_seeds(line(24, 11.5), apart, 16, judges);
  for (std::size_t i = 1; i < losses.size(); ++i) {
    CHECK(losses[i].expected <= losses[i - 1].expected);
    CHECK(losses[i].bound <= losses[i - 1].bound);
  }
  CHECK(losses[0].bound > losses[15].bound);
}

TEST_CASE("where the nearest whole search is far, those that are asked know as little") {
  std::size_t judges = 0;
  const auto searches = line(24, 11.5);
  const auto near = tune::losses_of_seeds(searches, apart, 2, judges);
  const auto far = tune::losses_of_seeds(line(24, 36), apart, 2, judges);  // 13 from the nearest
  CHECK(far[1].expected > 2 * near[1].expected);
}

TEST_CASE("a seed outside of a space is passed over, one that failed is not") {
  // The last search has neither 0 nor 1; the others have 0 as the best.
  std::vector<similar_search> searches = line(3, 1);
  searches[2].times.erase(0);
  searches[2].times.erase(1);
  std::size_t judges = 0;
  const auto passed = tune::losses_of_seeds(searches, apart, 2, judges);
  CHECK(std::isfinite(passed[0].expected));
  searches[2].times[0] = searches[2].times[1] = infinite;
  const auto failed = tune::losses_of_seeds(searches, apart, 2, judges);
  CHECK(std::isinf(failed[0].expected));
}

TEST_CASE("of searches that are drawn alike nine of ten keep the bound") {
  constexpr std::size_t known = 24;
  tune::random_source random(7);
  int kept = 0;
  constexpr int repeats = 300;
  for (int i = 0; i < repeats; ++i) {
    std::vector<similar_search> all;
    for (std::size_t s = 0; s <= known; ++s) {
      similar_search& one = all.emplace_back();
      one.distance = 1;
      one.is_whole = one.has_all = true;
      const double mood = random.unit();
      for (std::size_t c = 0; c < 100; ++c) {
        const double fit = std::abs(mood - static_cast<double>(c) / 100);
        one.times[c] = 1 + fit + 0.3 * random.unit();
      }
    }
    const similar_search truth = all.back();
    all.pop_back();
    std::size_t judges = 0;
    const auto losses = tune::losses_of_seeds(
        all, [](std::size_t, std::size_t) { return 1.0; }, 4, judges);
    double least = infinite;
    for (const std::size_t seed : tune::rank_seeds(all, 4)) {
      least = std::min(least, *truth.loss(seed));
    }
    if (least <= losses[3].bound) ++kept;
  }
  CHECK(kept >= repeats * 87 / 100);
}

}  // namespace model_test

namespace model_test::of_additive_kernel {

const coordinates& places() {
  // Half numbers, so that there are no axes but these.
  static const coordinates made(
      tune::search_space({{"a", {-1.5, 0.0, 1.5}}, {"b", {-1.5, 0.0, 1.5}}, {"c", {false, true}}}));
  return made;
}

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

}  // namespace model_test::of_additive_kernel
