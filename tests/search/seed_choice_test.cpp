// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/seeds/seed_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "libtune/search/space/random_source.hpp"

namespace seed_choice_test {

using numbers = std::vector<std::size_t>;
using tune::similar_search;

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

}  // namespace seed_choice_test
