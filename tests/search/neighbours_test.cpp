// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/neighbours.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/search/sample_spaces.hpp"

namespace neighbours_test {

using tune::closest;
using tune::neighbourhood;
using tune::neighbours;
using tune::search_space;
using tune::detail::random_source;
using tune::testing::counting;
using choice = std::vector<std::size_t>;

std::vector<choice> choices(const search_space& space, const std::vector<std::size_t>& indices) {
  std::vector<choice> all;
  for (const std::size_t index : indices) all.push_back(space.choice(index));
  return all;
}

TEST_CASE("Hamming neighbours differ in one parameter, adjacent ones in any by one candidate") {
  const search_space space({counting("a", 3), counting("b", 4)});
  const std::size_t centre = *space.index_of(choice{1, 0});
  CHECK(choices(space, neighbours(space, centre, neighbourhood::hamming)) ==
        std::vector<choice>{{0, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}});
  CHECK(choices(space, neighbours(space, centre, neighbourhood::adjacent)) ==
        std::vector<choice>{{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}});
}

TEST_CASE("forbidden neighbours are left out, also if none is left") {
  const search_space space = tune::testing::even_sums();
  const std::size_t centre = *space.index_of(choice{0, 0, 0});
  CHECK(choices(space, neighbours(space, centre, neighbourhood::adjacent)) ==
        std::vector<choice>{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}});
  CHECK(choices(space, neighbours(space, centre, neighbourhood::hamming)) ==
        std::vector<choice>{{0, 0, 2}, {0, 2, 0}, {2, 0, 0}, {4, 0, 0}});

  const search_space alone({counting("a", 3)},
                           {{"is 1", [](std::span<const std::size_t> at) { return at[0] == 1; }}});
  random_source random(1);
  for (const auto kind : {neighbourhood::hamming, neighbourhood::adjacent}) {
    CHECK(neighbours(alone, 0, kind).empty());
    CHECK_FALSE(tune::random_neighbour(alone, 0, kind, random));
    CHECK(tune::sample_neighbours(alone, 0, kind, 3, random).empty());
  }
}

TEST_CASE("every neighbour is equally likely to be drawn") {
  const search_space space = tune::testing::even_sums();
  const std::size_t centre = *space.index_of(choice{2, 2, 0});
  for (const auto kind : {neighbourhood::hamming, neighbourhood::adjacent}) {
    random_source random(7);
    const auto all = neighbours(space, centre, kind);
    std::map<std::size_t, int> drawn;
    for (std::size_t i = 0; i < 1000 * all.size(); ++i) {
      ++drawn[*tune::random_neighbour(space, centre, kind, random)];
    }
    CHECK(drawn.size() == all.size());
    for (const std::size_t index : all) {
      CHECK(drawn[index] > 880);
      CHECK(drawn[index] < 1120);
    }
  }
}

TEST_CASE("a sample of neighbours has different ones, the same for the same numbers drawn") {
  const search_space space = tune::testing::even_sums();
  for (const auto kind : {neighbourhood::hamming, neighbourhood::adjacent}) {
    const auto all = neighbours(space, 7, kind);
    random_source random(3);
    const auto some = tune::sample_neighbours(space, 7, kind, 3, random);
    CHECK(std::set<std::size_t>(some.begin(), some.end()).size() == 3);
    for (const std::size_t index : some) CHECK(std::ranges::binary_search(all, index));
    random_source again(3);
    CHECK(tune::sample_neighbours(space, 7, kind, 3, again) == some);
  }
}

TEST_CASE("the closest configuration to a point is itself if allowed, else one beside it") {
  const search_space space = tune::testing::even_sums();
  CHECK(closest(space, std::vector{2.0, 1.0, 1.0}) == space.index_of(choice{2, 1, 1}));
  CHECK(closest(space, std::vector{2.0, 1.0, 0.6}) == space.index_of(choice{2, 1, 1}));
  CHECK(closest(space, std::vector{2.0, 1.4, 1.9}) == space.index_of(choice{2, 2, 2}));
  CHECK(closest(space, std::vector{-50.0, 1e9, 1.2}) == space.index_of(choice{0, 3, 1}));
  CHECK(closest(search_space({}), std::vector<double>{}) == 0);
  CHECK_FALSE(closest(tune::testing::empty_space(), std::vector{1.0}));
}

TEST_CASE("neighbours of nothing and points of another space are errors") {
  const search_space space = tune::testing::even_sums();
  CHECK_THROWS_AS(neighbours(space, 30, neighbourhood::hamming), tune::argument_error);
  CHECK_THROWS_AS(neighbours(space, 30, neighbourhood::adjacent), tune::argument_error);
  CHECK_THROWS_WITH_AS(closest(space, std::vector{1.0}),
                       "a point of 1 numbers for a space of 3 parameters", tune::argument_error);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(closest(space, std::vector{1.0, infinite, 1.0}),
                       "the point has inf for the parameter 'b'", tune::argument_error);
}

TEST_CASE("all neighbours come once") {
  const tune::search_space space = tune::testing::even_sums();
  random_source random(1);
  for (std::size_t index = 0; index < space.size(); ++index) {
    auto found = tune::detail::neighbours_by_turns(space, index, random);
    std::ranges::sort(found);
    CHECK(found == tune::neighbours(space, index, tune::neighbourhood::hamming));
  }
}

TEST_CASE("parameters take turns, however many candidates they have") {
  const tune::search_space space({tune::testing::counting("many", 100),
                                  tune::testing::counting("few", 3),
                                  tune::testing::counting("two", 2)});
  random_source random(1);
  const auto own = space.choice(123);
  const auto found = tune::detail::neighbours_by_turns(space, 123, random);
  std::set<std::size_t> changed;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto other = space.choice(found[i]);
    changed.insert(static_cast<std::size_t>(std::ranges::mismatch(own, other).in1 - own.begin()));
  }
  CHECK(changed == std::set<std::size_t>{0, 1, 2});
  CHECK(found.size() == 99 + 2 + 1);
  CHECK(found != tune::detail::neighbours_by_turns(space, 123, random));
}

using tune::detail::untried_near;

TEST_CASE("a point becomes the closest configuration") {
  random_source random(1);
  const std::vector<double> point{41.7};
  CHECK(untried_near(
            tune::testing::line(100), point, [](std::size_t) { return false; }, random) == 42);
  const std::vector<double> outside{-7};
  CHECK(untried_near(
            tune::testing::line(100), outside, [](std::size_t) { return false; }, random) == 0);
}

TEST_CASE("if that has been tried, it becomes an untried one, as long as there are any") {
  random_source random(1);
  const std::vector<double> point{4};
  const std::set<std::size_t> tried{0, 1, 2, 4};
  const auto found = untried_near(
      tune::testing::line(6), point, [&](std::size_t i) { return tried.contains(i); }, random);
  REQUIRE(found);
  CHECK_FALSE(tried.contains(*found));
  CHECK_FALSE(untried_near(
      tune::testing::line(6), point, [](std::size_t) { return true; }, random));
}

}  // namespace neighbours_test
