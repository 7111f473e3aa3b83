// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy.hpp"
#include "tests/search/sample_spaces.hpp"

namespace tune::testing {

/// Makes the strategy under test.
using strategy_maker =
    std::function<std::unique_ptr<strategy>(const search_space&, const strategy_options&)>;

/// Something to find: smooth, with one lowest point, and of any size of space.
inline double landscape(const search_space& space, std::size_t index) {
  double score = 1;
  for (const std::size_t candidate : space.choice(index)) {
    score += std::abs(static_cast<double>(candidate) - 1.5);
  }
  return score;
}

/// All proposals, each answered at once by what answer returns.
inline std::vector<std::size_t> proposals(
    strategy& searching, const std::function<std::optional<double>(std::size_t)>& answer) {
  std::vector<std::size_t> all;
  while (const auto index = searching.ask()) {
    all.push_back(*index);
    REQUIRE(all.size() <= searching.space().size());
    searching.tell(*index, answer(*index));
  }
  return all;
}

inline bool all_different(const std::vector<std::size_t>& indices) {
  return std::set<std::size_t>(indices.begin(), indices.end()).size() == indices.size();
}

/// A search of a space, from beginning to end, in one of the ways in which answers may come.
inline void check_search(const strategy_maker& make, const search_space& space) {
  const auto searching = make(space, {.seed = 7});
  std::vector<std::size_t> proposed;
  SUBCASE("answered at once") {
    proposed = proposals(*searching, [&](std::size_t i) { return landscape(space, i); });
  }
  SUBCASE("where every configuration fails") {
    proposed = proposals(*searching, [](std::size_t) { return std::nullopt; });
  }
  SUBCASE("where every score is NaN") {
    proposed =
        proposals(*searching, [](std::size_t) { return std::numeric_limits<double>::quiet_NaN(); });
  }
  SUBCASE("where every score is the same") {
    proposed = proposals(*searching, [](std::size_t) { return 1.0; });
  }
  SUBCASE("never answered") {
    while (const auto index = searching->ask()) {
      proposed.push_back(*index);
      REQUIRE(proposed.size() <= space.size());
    }
  }
  SUBCASE("answered late and in reverse") {
    while (const auto index = searching->ask()) {
      proposed.push_back(*index);
      REQUIRE(proposed.size() <= space.size());
      if (proposed.size() % 8 != 0) continue;
      for (std::size_t i = 1; i <= 8; ++i) {
        const std::size_t answered = proposed[proposed.size() - i];
        searching->tell(answered, landscape(space, answered));
      }
    }
  }
  CHECK(all_different(proposed));
  CHECK(std::ranges::all_of(proposed, [&](std::size_t i) { return i < space.size(); }));
  CHECK(proposed.empty() == (space.size() == 0));
  for (const std::size_t index : proposed) searching->tell(index, 1.0);
  CHECK_MESSAGE(!searching->ask(), "a strategy that has ended proposes nothing any more");
}

inline void check_repeatable(const strategy_maker& make, const search_space& space) {
  const auto run = [&](std::uint64_t seed) {
    return proposals(*make(space, {.seed = seed}),
                     [&](std::size_t i) { return landscape(space, i); });
  };
  CHECK(run(1) == run(1));
  CHECK(run(std::numeric_limits<std::uint64_t>::max()) ==
        run(std::numeric_limits<std::uint64_t>::max()));
}

inline void check_limits(const strategy_maker& make, const search_space& space) {
  const auto count = [&](const strategy_options& options) {
    return proposals(*make(space, options), [](std::size_t) { return 1.0; }).size();
  };
  CHECK(count({.max_count = 0}) == 0);
  CHECK(count({.max_count = 1}) == 1);
  CHECK(count({.max_count = 7}) == 7);
  CHECK(count({.max_fraction = 0.1}) == (space.size() + 9) / 10);
  CHECK(count({.max_count = 2, .max_fraction = 0.1}) == 2);
  CHECK_THROWS_AS(make(space, {.max_fraction = 0.0}), argument_error);
}

/// What every strategy has to fulfil. Call it from a test case of the strategy's own.
inline void check_strategy_conformance(const strategy_maker& make) {
  SUBCASE("a restricted space") { check_search(make, even_sums()); }
  SUBCASE("a space without restrictions") { check_search(make, line(100)); }
  SUBCASE("a space of one configuration") { check_search(make, line(1)); }
  SUBCASE("a space without parameters") { check_search(make, search_space({})); }
  SUBCASE("a space where nothing is allowed") { check_search(make, empty_space()); }
  SUBCASE("equal seeds make equal searches") { check_repeatable(make, even_sums()); }
  SUBCASE("limits are kept") { check_limits(make, even_sums()); }
  SUBCASE("answers about what it has not proposed are taken") {
    const auto searching = make(line(4), {});
    searching->tell(3, 0.5);
    CHECK_THROWS_AS(searching->tell(4, 0.5), argument_error);
    CHECK(all_different(proposals(*searching, [](std::size_t) { return 1.0; })));
  }
}

}  // namespace tune::testing
