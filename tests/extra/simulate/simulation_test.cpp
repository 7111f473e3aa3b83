// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/simulation.hpp"

#include <doctest/doctest.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "tests/extra/simulate/recorded_line.hpp"

namespace simulation_test {

using tune::simulate;
using tune::testing::recorded_line;

/// Goes through the space in its order, and notes how many answers it had at each proposal.
class counting final : public tune::strategy {
 public:
  explicit counting(const tune::search_space& space) : strategy(space, {}) {}

  std::vector<std::size_t> answers_at_proposal;
  std::vector<std::pair<std::size_t, std::optional<double>>> told;

 private:
  std::optional<std::size_t> do_ask() override {
    answers_at_proposal.push_back(told.size());
    return next_++;
  }
  void do_tell(std::size_t index, std::optional<double> score) override {
    told.emplace_back(index, score);
  }

  std::size_t next_ = 0;
};

TEST_CASE("a strategy is told what was recorded, and time goes on by what it cost") {
  const auto recorded = recorded_line({4, std::nullopt, 2});
  counting searching(recorded.space());
  const auto steps = simulate(searching, recorded);
  REQUIRE(steps.size() == 3);
  CHECK(searching.told[0] == std::pair<std::size_t, std::optional<double>>{0, 4.0});
  CHECK(searching.told[1] == std::pair<std::size_t, std::optional<double>>{1, std::nullopt});
  CHECK(steps[1].index == 1);
  CHECK_FALSE(steps[1].score_ms);
  CHECK(steps[2].score_ms == 2);
  CHECK(steps[2].finished_ms == 30);
  CHECK(searching.answers_at_proposal == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("proposals can run ahead of the answers") {
  const auto recorded = recorded_line({5, 4, 3, 2, 1});
  counting searching(recorded.space());
  CHECK(simulate(searching, recorded, {.ahead = 3}).size() == 5);
  CHECK(searching.answers_at_proposal == std::vector<std::size_t>{0, 0, 0, 1, 2});
}

TEST_CASE("a simulation ends at its limits") {
  const auto recorded = recorded_line({5, 4, 3, 2, 1});
  const auto count = [&](const tune::simulation_options& options) {
    const auto searching = tune::make_strategy("exhaustive", recorded.space());
    return simulate(*searching, recorded, options).size();
  };
  CHECK(count({.max_count = 2}) == 2);
  CHECK(count({.max_ms = 20}) == 3);  // the one that passes the limit is the last
  CHECK(count({.max_ms = 2, .cost_ms = 1}) == 3);
  CHECK(count({}) == 5);
}

TEST_CASE("what the strategy takes is added to what evaluations cost") {
  const auto recorded = recorded_line({5, 4});
  const auto searching = tune::make_strategy("exhaustive", recorded.space());
  double now = 100;
  const auto steps =
      simulate(*searching, recorded, {.clock_ms = [&] { return now += 1; }});  // each look: 1 ms
  CHECK(steps[0].finished_ms == 11);  // a proposal, and what it cost
  CHECK(steps[1].finished_ms == 23);  // an answer, another proposal, and what that cost
}

TEST_CASE("a strategy for another space is refused") {
  const auto recorded = recorded_line({5, 4});
  const auto searching = tune::make_strategy("exhaustive", recorded_line({1}).space());
  CHECK_THROWS_AS(simulate(*searching, recorded), tune::argument_error);
  const auto fitting = tune::make_strategy("exhaustive", recorded.space());
  CHECK_THROWS_AS(simulate(*fitting, recorded, {.ahead = 0}), tune::argument_error);
}

}  // namespace simulation_test
