// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategies.hpp"
#include "tests/search/sample_searches.hpp"
#include "tests/search/sample_spaces.hpp"

namespace strategy_test {

/// Ends when it is told to, and notes the answers.
class listening final : public tune::strategy {
 public:
  explicit listening(const tune::strategy_options& options = {})
      : strategy(tune::testing::line(10), options) {}

  bool ended = false;
  std::vector<std::optional<double>> scores;

 private:
  std::optional<std::size_t> do_ask() override {
    return ended ? std::nullopt : std::optional<std::size_t>(0);
  }
  void do_tell(std::size_t, std::optional<double> score) override { scores.push_back(score); }
};

class counting_up final : public tune::strategy {
 public:
  explicit counting_up(const tune::strategy_options& options)
      : strategy(tune::testing::line(10), options) {}

 private:
  std::optional<std::size_t> do_ask() override { return next_++; }

  std::size_t next_ = 0;
};

int count_proposals(const tune::strategy_options& options) {
  listening searching(options);
  int count = 0;
  while (searching.ask()) ++count;
  return count;
}

TEST_CASE("a score that is no number reaches a strategy as a failure") {
  listening searching;
  searching.tell(0, std::numeric_limits<double>::quiet_NaN());
  searching.tell(0, std::numeric_limits<double>::infinity());
  searching.tell(0, -std::numeric_limits<double>::infinity());
  searching.tell(0, std::nullopt);
  searching.tell(0, -1.5);
  CHECK(searching.scores == std::vector<std::optional<double>>{std::nullopt, std::nullopt,
                                                               std::nullopt, std::nullopt, -1.5});
}

TEST_CASE("a strategy that has ended stays so") {
  listening searching;
  CHECK(searching.ask());
  searching.ended = true;
  CHECK_FALSE(searching.ask());
  searching.ended = false;
  CHECK_FALSE(searching.ask());
}

/// Expects no gain after three proposals.
class contented final : public tune::strategy {
 public:
  explicit contented(const tune::strategy_options& options)
      : strategy(tune::testing::line(10), options) {}

 private:
  std::optional<std::size_t> do_ask() override {
    if (next_ >= 3 && end_early()) return std::nullopt;
    return next_++;
  }

  std::size_t next_ = 0;
};

TEST_CASE("a strategy that expects no more gain ends early, unless the options forbid it") {
  const auto count = [](contented& searching) {
    int proposals = 0;
    while (searching.ask()) ++proposals;
    return proposals;
  };
  for (const auto allowed : {std::optional<bool>(), std::optional(true)}) {
    contented searching({.early_end = allowed});
    CHECK(count(searching) == 3);
    CHECK(searching.ended_early());
    CHECK(searching.remaining() == 0);
  }
  contented tireless({.early_end = false});
  CHECK(count(tireless) == 10);
  CHECK_FALSE(tireless.ended_early());
  contented limited({.max_count = 2});
  CHECK(count(limited) == 2);
  CHECK_FALSE(limited.ended_early());
}

TEST_CASE("a search ends with a score near the least that there can be, unless it may not") {
  const auto told = [](tune::strategy_options options, double score) {
    options.least_score = -10;
    contented searching(options);
    searching.ask();
    searching.tell(0, score);
    return searching.ended_early() && !searching.ask() && searching.remaining() == 0;
  };
  CHECK(told({}, -9.9));
  CHECK_FALSE(told({}, -9.7));
  CHECK_FALSE(told({.early_end = false}, -9.9));
}

TEST_CASE("a search is limited by count, by fraction, and by the smaller of both") {
  CHECK(count_proposals({}) == 10);
  CHECK(count_proposals({.max_count = 3}) == 3);
  CHECK(count_proposals({.max_count = 30}) == 10);
  CHECK(count_proposals({.max_fraction = 1.0}) == 10);
  CHECK(count_proposals({.max_fraction = 0.41}) == 5);
  CHECK(count_proposals({.max_fraction = 1e-9}) == 1);
  CHECK(count_proposals({.max_count = 6, .max_fraction = 0.2}) == 2);
  CHECK(count_proposals({.max_count = 2, .max_fraction = 0.6}) == 2);
}

TEST_CASE("a fraction that is none is an error that says what to give") {
  for (const double wrong : {0.0, -0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_WITH_AS(listening({.max_fraction = wrong}), doctest::Contains("over 0, up to 1"),
                         tune::argument_error);
  }
}

TEST_CASE("a warm start is proposed first, and what it holds twice only once") {
  counting_up searching({.warm_start = {7, 2, 7}});
  CHECK(searching.ask() == 7);
  CHECK(searching.ask() == 2);
  CHECK(searching.ask() == 0);
  CHECK(searching.ask() == 1);
  CHECK_MESSAGE(searching.ask() == 3, "2 has been proposed");
  CHECK(searching.remaining() == 5);
}

TEST_CASE("configurations outside the space are errors") {
  listening searching;
  CHECK_THROWS_WITH_AS(searching.tell(10, 1.0),
                       "a result was reported for configuration 10 of a space of 10",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(counting_up({.warm_start = {10}}),
                       "a warm start with configuration 10 of a space of 10", tune::argument_error);
}

/// Proposes what it is given, then nothing.
class suggesting final : public tune::learning_strategy {
 public:
  suggesting(std::vector<std::size_t> ideas, const tune::strategy_options& options)
      : learning_strategy(tune::testing::line(10), options), ideas_(ideas.rbegin(), ideas.rend()) {}

  using learning_strategy::tried;
  std::vector<std::size_t> learned;

 private:
  std::optional<std::size_t> do_propose() override {
    if (ideas_.empty()) return std::nullopt;
    const std::size_t idea = ideas_.back();
    ideas_.pop_back();
    return idea;
  }
  void do_learn(std::size_t index, std::optional<double>) override { learned.push_back(index); }

  std::vector<std::size_t> ideas_;
};

TEST_CASE("a strategy without ideas goes through the rest of the space at random") {
  suggesting searching({4, 2}, {.seed = 1});
  CHECK(searching.ask() == 4);
  CHECK(searching.ask() == 2);
  std::set<std::size_t> rest;
  while (const auto index = searching.ask()) rest.insert(*index);
  CHECK(rest == std::set<std::size_t>{0, 1, 3, 5, 6, 7, 8, 9});
}

TEST_CASE("what has been proposed or told has been tried") {
  suggesting searching({4}, {});
  searching.ask();
  searching.tell(7, std::nullopt);
  CHECK(searching.tried(4));
  CHECK(searching.tried(7));
  CHECK_FALSE(searching.tried(5));
}

TEST_CASE("a configuration is learned once, however often it is told") {
  suggesting searching({}, {});
  searching.tell(7, 1.0);
  searching.tell(7, 2.0);
  searching.tell(3, std::nullopt);
  CHECK(searching.learned == std::vector<std::size_t>{7, 3});
}

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

}  // namespace strategy_test
