// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "tests/search/sample_searches.hpp"

namespace strategies_test {

using indexes = std::vector<std::size_t>;

TEST_CASE("every name of the library makes a strategy for the space with the options") {
  const auto space = tune::testing::line(9);
  const auto names = tune::strategy_names();
  for (const std::string& name : std::vector(names.begin(), names.begin() + 6)) {
    CAPTURE(name);
    const auto made = tune::make_strategy(name, space, {.max_count = 1});
    CHECK(made->space().size() == 9);
    CHECK(made->ask());
    CHECK_FALSE(made->ask());
  }
}

TEST_CASE("an unknown name is an error that lists the known ones") {
  CHECK_THROWS_WITH_AS(
      tune::make_strategy("annealing", tune::testing::line(1)),
      "there is no search strategy 'annealing' in this process; the strategies are exhaustive, "
      "random, local, genetic, model, near; one of your own has to be registered before "
      "tune::serve_if_worker is called",
      tune::argument_error);
}

TEST_CASE("a registered strategy is made by its name, and listed after the library's") {
  const auto reversed = [](const tune::search_space& space, const tune::strategy_options&) {
    std::vector<std::size_t> all(space.size());
    std::iota(all.rbegin(), all.rend(), std::size_t{0});
    return tune::make_shortlist(space, all);
  };
  // Once in a process, however often this test case runs.
  static const bool registered = tune::register_strategy("test.reversed", reversed);
  CHECK(registered);
  CHECK(tune::strategy_names()[4] == "model");
  CHECK(tune::strategy_names()[5] == "near");
  CHECK(tune::strategy_names()[6] == "test.reversed");
  const auto made = tune::make_strategy("test.reversed", tune::testing::line(3));
  CHECK(tune::testing::proposals(*made, [](std::size_t) { return 1.0; }) == indexes{2, 1, 0});
  for (const char* taken : {"test.reversed", "model", "shortlist"}) {
    CHECK_THROWS_WITH_AS(tune::register_strategy(taken, reversed), doctest::Contains(taken),
                         tune::argument_error);
  }
  for (const char* wrong : {"", "two words", "a,b", "a/b"}) {
    CHECK_THROWS_WITH_AS(tune::register_strategy(wrong, reversed), doctest::Contains("letters"),
                         tune::argument_error);
  }
  CHECK_THROWS_AS(tune::register_strategy("test.empty", {}), tune::argument_error);
}

TEST_CASE("a factory that makes nothing is an error that names it") {
  static const bool registered = tune::register_strategy(
      "test.nothing", [](const auto&, const auto&) { return std::unique_ptr<tune::strategy>(); });
  CHECK(registered);
  CHECK_THROWS_WITH_AS(tune::make_strategy("test.nothing", tune::testing::line(3)),
                       doctest::Contains("'test.nothing'"), tune::argument_error);
}

TEST_CASE("what learns nothing from answers says so, so that compilers may run far ahead") {
  for (const std::string name : {"exhaustive", "random", "local", "genetic", "model", "near"}) {
    const bool learns = name != "exhaustive" && name != "random" && name != "near";
    CHECK(tune::make_strategy(name, tune::testing::line(3))->learns() == learns);
  }
  CHECK_FALSE(tune::make_shortlist(tune::testing::line(3), {1})->learns());
  CHECK(tune::make_strategy("near", tune::testing::line(3), {.warm_start = {1}})->learns());
  CHECK(tune::make_strategy("near", tune::testing::line(3))->covers());
  CHECK_FALSE(tune::make_strategy("near", tune::testing::line(3), {.warm_start = {1}})->covers());
  CHECK(tune::make_strategy("model", tune::testing::line(3), {.warm_start = {1}})->covers());
}

TEST_CASE("'near' tries its start, what is beside the best, and ends") {
  // Number 5 * a + b; far from its start, 24 is the best.
  const tune::search_space space(
      {{"a", {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}}},
       {"b",
        {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}}}});
  const auto flat = [](std::size_t) { return 1.0; };
  const auto near = tune::make_strategy("near", space, {.warm_start = {12, 6}});
  auto proposed = tune::testing::proposals(*near, flat);
  CHECK(indexes(proposed.begin(), proposed.begin() + 2) == indexes{12, 6});
  std::ranges::sort(proposed);
  CHECK(proposed == indexes{2, 6, 7, 10, 11, 12, 13, 14, 17, 22});
  CHECK(near->ended_early());

  const auto climbing = tune::make_strategy("near", space, {.warm_start = {12}});
  const auto way = tune::testing::proposals(
      *climbing, [](std::size_t index) { return 100.0 - static_cast<double>(index); });
  CHECK(std::ranges::find(way, 24) != way.end());
  CHECK(way.size() < 25);

  const auto whole = tune::make_strategy("near", space, {.warm_start = {12}, .early_end = false});
  CHECK(tune::testing::proposals(*whole, flat).size() == 25);
  const auto first = tune::make_strategy("near", space);
  proposed = tune::testing::proposals(*first, flat);
  CHECK(proposed.size() == 25);
  CHECK(std::ranges::is_sorted(proposed));
}

TEST_CASE("the exhaustive strategy goes through a small space in its order") {
  const auto answer = [](std::size_t) { return 1.0; };
  const auto all = tune::make_strategy("exhaustive", tune::testing::line(4));
  CHECK(tune::testing::proposals(*all, answer) == indexes{0, 1, 2, 3});
  const auto limited = tune::make_strategy("exhaustive", tune::testing::line(4), {.max_count = 2});
  CHECK(tune::testing::proposals(*limited, answer) == indexes{0, 1});
}

TEST_CASE("it goes through a larger space in strides, everywhere from the start, each once") {
  const auto answer = [](std::size_t) { return 1.0; };
  for (const std::size_t size : {65U, 89U, 100U, 225U, 1024U, 10'007U}) {
    const auto all = tune::make_strategy("exhaustive", tune::testing::line(size));
    auto order = tune::testing::proposals(*all, answer);
    const std::size_t first = 16;
    std::vector<std::size_t> early(order.begin(), order.begin() + first);
    early.push_back(size);
    std::ranges::sort(early);
    std::size_t widest = 0;
    for (std::size_t i = 1; i < early.size(); ++i) {
      widest = std::max(widest, early[i] - early[i - 1]);
    }
    CHECK_MESSAGE(widest <= size / 8 + 1, "no part of the space waits for long");
    std::ranges::sort(order);
    std::vector<std::size_t> each(size);
    std::iota(each.begin(), each.end(), std::size_t{0});
    CHECK(order == each);
  }
}

indexes order(const tune::search_space& space, std::uint64_t seed) {
  const auto searching = tune::make_strategy("random", space, {.seed = seed});
  return tune::testing::proposals(*searching, [](std::size_t) { return 1.0; });
}

TEST_CASE("the random strategy proposes all configurations, for other seeds in other orders") {
  const auto space = tune::testing::line(50);
  CHECK(order(space, 1).size() == 50);
  CHECK(order(space, 1) != order(space, 2));
}

TEST_CASE("the random strategy draws in the order of a sample with the same seed") {
  const auto space = tune::testing::even_sums();
  CHECK(order(space, 3) == space.sample(space.size(), 3));
}

indexes shortlisted(const indexes& listed) {
  const auto strategy = tune::make_shortlist(tune::testing::line(9), listed);
  return tune::testing::proposals(*strategy, [](std::size_t) { return 1.0; });
}

TEST_CASE("what is listed is proposed, in the order given, each once") {
  CHECK(shortlisted({7, 0, 3}) == indexes{7, 0, 3});
  CHECK(shortlisted({7, 0, 7, 7, 3, 0}) == indexes{7, 0, 3});
}

TEST_CASE("an empty list ends at once, and the end lasts") {
  CHECK(shortlisted({}).empty());
  const auto strategy = tune::make_shortlist(tune::testing::line(9), {1});
  CHECK(strategy->remaining() == 1);
  CHECK(strategy->ask() == 1);
  CHECK_FALSE(strategy->ask());
  CHECK_FALSE(strategy->ask());
}

TEST_CASE("what the space does not have cannot be listed") {
  CHECK_THROWS_AS(tune::make_shortlist(tune::testing::line(9), {1, 9}), tune::argument_error);
}

TEST_CASE("the default is everything in small spaces, and the model in larger ones") {
  using tune::choose_search;
  using enum tune::search_limit;
  for (const std::size_t size : {0, 1, 6, 64}) {
    CHECK(choose_search(size, none).strategy == "exhaustive");
    CHECK(choose_search(size, given).strategy == "exhaustive");
    CHECK(choose_search(size, none).most == size);
  }
  CHECK(choose_search(65, none).strategy == "model");
  CHECK(choose_search(65, none).most == 64);
  CHECK(choose_search(225, none).most == 90);
  CHECK(choose_search(1'000'000, none).most == 6000);
  CHECK(choose_search(5000, given).most == 5000);
  for (std::size_t size = 65; size < 3000; ++size) {
    REQUIRE(choose_search(size, none).most <= size);
    REQUIRE(choose_search(size, none).most >= 64);
  }
}

}  // namespace strategies_test
