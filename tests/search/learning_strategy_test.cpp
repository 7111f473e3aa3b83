// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/learning_strategy.hpp"

#include <doctest/doctest.h>
#include <set>
#include <vector>

#include "tests/search/sample_spaces.hpp"

namespace learning_strategy_test {

/// Proposes what it is given, then nothing.
class suggesting final : public tune::detail::learning_strategy {
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

}  // namespace learning_strategy_test
