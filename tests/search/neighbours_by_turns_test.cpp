// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/neighbours_by_turns.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "libtune/search/neighbours.hpp"
#include "tests/search/sample_spaces.hpp"

namespace neighbours_by_turns_test {

using tune::detail::random_source;

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
}

TEST_CASE("another draw is another order") {
  const tune::search_space space = tune::testing::line(100);
  random_source random(1);
  const auto once = tune::detail::neighbours_by_turns(space, 5, random);
  CHECK(once != tune::detail::neighbours_by_turns(space, 5, random));
}

}  // namespace neighbours_by_turns_test
