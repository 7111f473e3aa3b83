// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "tests/search/valley.hpp"

namespace model_test {

TEST_CASE("the strategy 'model' finds in 60 proposals what random search misses in 2000") {
  const double random = tune::testing::mean_best_of_search("random", 2000);
  const double learned = tune::testing::mean_best_of_search("model", 60);
  CHECK(learned < random);
}

TEST_CASE("the model learns which part of a space fails") {
  // Of the first parameter only the candidates 0 to 2 work.
  const tune::search_space space = tune::testing::wide_space();
  const auto searching = tune::make_strategy("model", space, {.seed = 5});
  int failed = 0;
  // Later, with nothing left to gain among those that work, it may well try the others again.
  for (int i = 0; i < 60; ++i) {
    const std::size_t index = *searching->ask();
    const bool fails = space.choice(index)[0] > 2;
    if (fails) ++failed;
    searching->tell(index, fails ? std::nullopt : tune::testing::valley(space, index));
  }
  CHECK(failed < 25);  // 37 by chance, for five eighths of the space fail; and the valley is there
}

TEST_CASE("the model makes use of answers to what it has not proposed") {
  const tune::search_space space = tune::testing::line(1000);
  const auto searching = tune::make_strategy("model", space, {.seed = 5});
  for (const std::size_t index : {0U, 200U, 400U, 480U, 520U, 600U, 800U, 999U}) {
    const double off = static_cast<double>(index) - 500;
    searching->tell(index, 1 + off * off / 1000);
  }
  const std::size_t first = *searching->ask();
  CHECK(first > 480);
  CHECK(first < 520);
}

}  // namespace model_test
