// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategy.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategies.hpp"
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

}  // namespace strategy_test
