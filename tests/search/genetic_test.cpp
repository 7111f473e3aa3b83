// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "tests/search/valley.hpp"

namespace genetic_test {

TEST_CASE("the strategy 'genetic' gets much further than random search") {
  const double random = tune::testing::mean_best_of_search("random", 300);
  const double learned = tune::testing::mean_best_of_search("genetic", 300);
  CHECK(learned - 1 < (random - 1) / 3);
}

}  // namespace genetic_test
