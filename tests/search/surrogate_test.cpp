// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>

#include "tests/search/sample_searches.hpp"

namespace surrogate_test {

using tune::detail::random_source;
using tune::detail::surrogate;

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

}  // namespace surrogate_test
