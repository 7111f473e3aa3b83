// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random.hpp"

#include <doctest/doctest.h>
#include <vector>

#include "tests/search/proposals.hpp"
#include "tests/search/sample_spaces.hpp"

namespace random_test {

std::vector<std::size_t> order(const tune::search_space& space, std::uint64_t seed) {
  tune::random_strategy searching(space, {.seed = seed});
  return tune::testing::proposals(searching, [](std::size_t) { return 1.0; });
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

}  // namespace random_test
