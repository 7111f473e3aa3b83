// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/exhaustive.hpp"

#include <algorithm>
#include <cstddef>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include "tests/search/proposals.hpp"
#include "tests/search/sample_spaces.hpp"

namespace exhaustive_test {

TEST_CASE("the exhaustive strategy goes through a small space in its order") {
  const auto answer = [](std::size_t) { return 1.0; };
  tune::exhaustive_strategy all(tune::testing::line(4));
  CHECK(tune::testing::proposals(all, answer) == std::vector<std::size_t>{0, 1, 2, 3});
  tune::exhaustive_strategy limited(tune::testing::line(4), {.max_count = 2});
  CHECK(tune::testing::proposals(limited, answer) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("it goes through a larger space in strides, everywhere from the start, each once") {
  const auto answer = [](std::size_t) { return 1.0; };
  for (const std::size_t size : {65U, 89U, 100U, 225U, 1024U, 10'007U}) {
    tune::exhaustive_strategy all(tune::testing::line(size));
    auto order = tune::testing::proposals(all, answer);
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

}  // namespace exhaustive_test
