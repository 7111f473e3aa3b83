// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/search_space.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/space/neighbours.hpp"
#include "tests/search/sample_spaces.hpp"

namespace search_space_test {

using tune::canonical_text;
using tune::closest;
using tune::named_value;
using tune::neighbourhood;
using tune::neighbours;
using tune::parameter;
using tune::restriction;
using tune::search_space;
using tune::detail::random_source;
using tune::detail::untried_near;
using tune::testing::counting;
using choice = std::vector<std::size_t>;

TEST_CASE("configurations are numbered like nested loops, the last parameter innermost") {
  const search_space space({counting("a", 2), counting("b", 3)});
  CHECK(space.size() == 6);
  CHECK(space.choice(0) == choice{0, 0});
  CHECK(space.choice(1) == choice{0, 1});
  CHECK(space.choice(3) == choice{1, 0});
  CHECK(space.choice(5) == choice{1, 2});
  CHECK(space.values(5) ==
        std::vector<named_value>{{"a", std::int64_t{1}}, {"b", std::int64_t{2}}});
}

TEST_CASE("restrictions take configurations out and close the gaps") {
  const search_space space = tune::testing::even_sums();
  CHECK(space.cartesian_size() == 60);
  CHECK(space.size() == 30);
  for (std::size_t i = 0; i < space.size(); ++i) {
    const choice chosen = space.choice(i);
    CHECK((chosen[0] + chosen[1] + chosen[2]) % 2 == 0);
    CHECK(space.index_of(chosen) == i);
    CHECK(space.find(space.values(i)) == i);
  }
  CHECK_FALSE(space.index_of(choice{0, 0, 1}));
  CHECK(space.removals() == std::vector<tune::removal>{{"the sum is even", 30}});
}

TEST_CASE("a space without parameters has one configuration, the empty one") {
  const search_space space({});
  CHECK(space.cartesian_size() == 1);
  CHECK(space.size() == 1);
  CHECK(space.choice(0).empty());
  CHECK(space.values(0).empty());
  CHECK(space.index_of({}) == 0);
  CHECK(space.find({}) == 0);
  const search_space forbidden({}, {{"no", [](std::span<const std::size_t>) { return false; }}});
  CHECK(forbidden.size() == 0);
  CHECK_FALSE(forbidden.index_of({}));
}

TEST_CASE("parameters that cannot be searched are errors that name them") {
  const auto make = [](std::vector<parameter> parameters) { search_space{std::move(parameters)}; };
  CHECK_THROWS_WITH_AS(make({counting("a", 1), {"wgs", {}}}),
                       "the parameter 'wgs' has no candidates; give it at least one",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(make({counting("a", 1), counting("b", 1), counting("a", 2)}),
                       doctest::Contains("name 'a'"), tune::argument_error);
  CHECK_THROWS_WITH_AS(make({{"wgs", {std::int64_t{32}, std::int64_t{64}, std::int64_t{32}}}}),
                       "the parameter 'wgs' has the candidate 32 twice", tune::argument_error);
  CHECK_THROWS_AS(make({{"x", {std::numeric_limits<double>::quiet_NaN()}}}), tune::argument_error);
  CHECK_NOTHROW(make({{"x", {std::int64_t{1}, std::uint64_t{1}, 1.0, true}}}));
}

// In quadratic time it would take longer than the test may.
TEST_CASE("many candidates and many parameters are checked in linear time") {
  parameter many = counting("many", 500'000);
  CHECK(search_space({many}).cartesian_size() == 500'000);
  many.candidates.push_back(many.candidates[250'000]);
  CHECK_THROWS_WITH_AS(search_space({many}), doctest::Contains("twice"), tune::argument_error);
  std::vector<parameter> all;
  for (int i = 0; i < 100'000; ++i) all.push_back(counting("p" + std::to_string(i), 1));
  CHECK(search_space(all).cartesian_size() == 1);
}

TEST_CASE("a space that is too big to count is an error, one that just is not is a space") {
  std::vector<parameter> parameters;
  for (int i = 0; i < 63; ++i) parameters.push_back(counting("p" + std::to_string(i), 2));
  const search_space big(parameters);
  CHECK(big.size() == std::size_t{1} << 63);
  CHECK(big.choice(big.size() - 1) == choice(63, 1));
  CHECK(big.sample(5, 1).size() == 5);
  parameters.push_back(counting("last", 2));
  CHECK_THROWS_WITH_AS(search_space{parameters}, doctest::Contains("'last'"), tune::argument_error);
}

TEST_CASE("restrictions that cannot be asked are errors that name them") {
  const auto yes = [](std::span<const std::size_t>) { return true; };
  CHECK_THROWS_WITH_AS(search_space({counting("a", 2)}, {{"r", yes, std::vector<std::size_t>{1}}}),
                       "the restriction 'r' reads parameter 1 of a space of 1",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(search_space({counting("a", 2)}, {{"r", nullptr}}),
                       "the restriction 'r' has no function", tune::argument_error);
}

TEST_CASE("asking for what is not in the space is an error or empty") {
  const search_space space = tune::testing::even_sums();
  CHECK_THROWS_WITH_AS(space.choice(30), "the space has 30 configurations, there is no number 30",
                       tune::argument_error);
  CHECK_THROWS_AS(space.values(30), tune::argument_error);
  CHECK_THROWS_AS(space.index_of(choice{0, 0}), tune::argument_error);
  CHECK_THROWS_WITH_AS(space.index_of(choice{0, 4, 0}),
                       "the parameter 'b' has 4 candidates, there is no number 4",
                       tune::argument_error);

  const named_value a{"a", std::int64_t{1}};
  const named_value b{"b", std::int64_t{1}};
  CHECK(space.find(std::vector{b, {"other", true}, {"c", std::int64_t{0}}, a}) == 7);
  CHECK_FALSE(space.find(std::vector{a, b}));
  CHECK_FALSE(space.find(std::vector{a, b, {"c", std::int64_t{9}}}));
  CHECK_FALSE(space.find(std::vector{a, b, {"c", std::uint64_t{0}}}));
}

TEST_CASE("a sample has different configurations and is the same for the same seed") {
  const search_space space = tune::testing::even_sums();
  const auto drawn = space.sample(10, 4);
  CHECK(drawn.size() == 10);
  CHECK(std::set<std::size_t>(drawn.begin(), drawn.end()).size() == 10);
  CHECK(drawn == space.sample(10, 4));
  CHECK(drawn != space.sample(10, 5));
  CHECK(space.sample(1000, 4).size() == 30);
  CHECK(space.sample(0, 4).empty());
  CHECK(tune::testing::empty_space().sample(3, 4).empty());
}

TEST_CASE("threads that need the space at the same time enumerate it once") {
  std::atomic<int> asked{0};
  const search_space space({counting("a", 100)}, {{"half", [&](std::span<const std::size_t> at) {
                                                     ++asked;
                                                     return at[0] % 2 == 0;
                                                   }}});
  const search_space copy = space;
  std::vector<std::size_t> sizes(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    threads.emplace_back([&, i] { sizes[i] = i % 2 == 0 ? space.size() : copy.size(); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sizes == std::vector<std::size_t>(4, 50));
  CHECK(asked == 100);
}

TEST_CASE("the first configuration is found without the others") {
  std::size_t asked = 0;
  std::vector<parameter> parameters(16, counting("", 10));
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].name = std::to_string(i);
  std::vector<restriction> ascending;
  for (std::size_t i = 1; i < 15; ++i) {
    ascending.push_back({std::to_string(i),
                         [&asked, i](std::span<const std::size_t> at) {
                           ++asked;
                           return at[i] >= at[i - 1];
                         },
                         std::vector{i - 1, i}});
  }
  ascending.push_back({"last", [](auto at) { return at[15] == 9; }, std::vector<std::size_t>{15}});
  const auto first = search_space(parameters, ascending).first();
  REQUIRE(first);
  CHECK(first->at(14).value == parameters[0].candidates[0]);
  CHECK(first->at(15).value == parameters[0].candidates[9]);
  CHECK(asked == 14);
  // Where the first one is far, all are found.
  ascending.push_back({"far", [](auto at) { return at[0] + at[14] == 9 && at[0] == 4; },
                       std::vector<std::size_t>{0, 14}});
  const search_space far(parameters, ascending);
  CHECK(far.first() == far.values(0));
}

TEST_CASE("a space whose restriction threw may be asked again") {
  bool broken = true;
  const search_space space({counting("a", 4)}, {{"r", [&](std::span<const std::size_t>) {
                                                   if (broken) throw std::runtime_error("not yet");
                                                   return true;
                                                 }}});
  CHECK_THROWS_AS(space.size(), tune::error);
  CHECK_THROWS_AS(space.first(), tune::error);
  const std::vector<named_value> values{{"a", space.parameters()[0].candidates[1]}};
  CHECK_THROWS_AS(space.contains(values), tune::error);
  broken = false;
  CHECK(space.contains(values));
  CHECK(space.size() == 4);
}

std::int64_t number(std::int64_t i) { return i; }

std::vector<parameter> sample_parameters() {
  return {{"wgs", {number(1), number(2), number(4)}}, {"rows", {number(1), number(2)}}};
}

restriction first_below(std::size_t limit, const std::string& description) {
  return {description, [limit](auto choice) { return choice[0] < limit; }};
}

TEST_CASE("the text of a space is always the same") {
  // Databases hold digests of such texts.
  CHECK(canonical_text(search_space(sample_parameters(), {first_below(2, "small")})) ==
        "size 4\nparameter 3:wgs i1 i2 i4\nparameter 4:rows i1 i2\nrestriction 5:small 2\n");
  CHECK(canonical_text(search_space({})) == "size 1\n");
}

TEST_CASE("whatever changes in a space changes its text") {
  std::set<std::string> texts{canonical_text(search_space(sample_parameters()))};
  std::size_t changes = 1;
  const auto change_parameters = [&](const auto& change) {
    auto parameters = sample_parameters();
    change(parameters);
    texts.insert(canonical_text(search_space(std::move(parameters))));
    ++changes;
  };
  change_parameters([](auto& changed) { changed[0].name = "wgt"; });
  change_parameters([](auto& changed) { changed[0].candidates.pop_back(); });
  change_parameters([](auto& changed) { changed[0].candidates[2] = number(8); });
  change_parameters([](auto& changed) { changed[0].candidates[2] = 4.0; });
  change_parameters([](auto& changed) { changed[0].candidates[2] = std::string("4"); });
  change_parameters(
      [](auto& changed) { std::swap(changed[0].candidates[0], changed[0].candidates[1]); });
  change_parameters([](auto& changed) { std::swap(changed[0], changed[1]); });
  const std::vector<std::vector<restriction>> lists{{first_below(3, "all")},
                                                    {first_below(3, "every one")},
                                                    {first_below(2, "all")},
                                                    {first_below(3, "all"), first_below(3, "all")}};
  for (const auto& restrictions : lists) {
    texts.insert(canonical_text(search_space(sample_parameters(), restrictions)));
    ++changes;
  }
  CHECK(texts.size() == changes);
}

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

}  // namespace search_space_test
