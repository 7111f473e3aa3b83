// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "tests/search/valley.hpp"

namespace local_test {

TEST_CASE("the strategy 'local' gets much further than random search") {
  const double random = tune::testing::mean_best_of_search("random", 300);
  const double learned = tune::testing::mean_best_of_search("local", 300);
  CHECK(learned - 1 < (random - 1) / 3);
}

TEST_CASE("local search tries the surroundings of the best of its sample") {
  const tune::search_space space = tune::testing::wide_space();
  const auto searching = tune::make_strategy("local", space, {.seed = 1});
  std::size_t best = 0;
  double least = 1e300;
  for (int i = 0; i < 10; ++i) {  // the sample
    const std::size_t index = *searching->ask();
    const double score = 100.0 + i;
    if (score < least) {
      least = score;
      best = index;
    }
    searching->tell(index, score);
  }
  const auto centre = space.choice(best);
  const auto near = space.choice(*searching->ask());
  int differing = 0;
  for (std::size_t i = 0; i < near.size(); ++i) differing += near[i] != centre[i] ? 1 : 0;
  CHECK(differing == 1);
}

TEST_CASE("local search moves on as soon as something is better") {
  const tune::search_space space = tune::testing::line(1000);
  const auto searching = tune::make_strategy("local", space, {.seed = 2});
  for (int i = 0; i < 10; ++i) searching->tell(*searching->ask(), 50.0);
  const std::size_t better = *searching->ask();
  searching->tell(better, 1.0);
  int near = 0;
  for (int i = 0; i < 3; ++i) {
    const std::size_t next = *searching->ask();
    if (next + 1 == better || next == better + 1) ++near;
    searching->tell(next, 60.0);
  }
  const auto last = *searching->ask();  // after turns around it, a step beside it
  CHECK(near + (last + 1 == better || last == better + 1 ? 1 : 0) >= 1);
}

}  // namespace local_test
