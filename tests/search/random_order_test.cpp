// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random_order.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace random_order_test {

using tune::detail::random_order;

std::vector<std::size_t> take(random_order order, std::size_t count) {
  std::vector<std::size_t> taken;
  while (taken.size() < count) {
    const auto next = order.next();
    if (!next) break;
    taken.push_back(*next);
  }
  return taken;
}

TEST_CASE("every number comes once") {
  for (const std::size_t size : {0, 1, 2, 3, 100}) {
    const auto taken = take(random_order(size, 5), size + 1);
    CHECK(taken.size() == size);
    const std::set<std::size_t> different(taken.begin(), taken.end());
    CHECK(different.size() == size);
    CHECK((different.empty() || *different.rbegin() == size - 1));
  }
}

TEST_CASE("every order is about equally likely") {
  std::map<std::vector<std::size_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++seen[take(random_order(3, seed), 3)];
  CHECK(seen.size() == 6);
  for (const auto& [order, count] : seen) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

TEST_CASE("equal seeds make equal orders") {
  CHECK(take(random_order(100, 9), 100) == take(random_order(100, 9), 100));
  CHECK(take(random_order(100, 9), 100) != take(random_order(100, 8), 100));
}

TEST_CASE("a few of very many numbers are taken at once") {
  const auto taken = take(random_order(std::numeric_limits<std::size_t>::max(), 1), 1000);
  CHECK(std::set<std::size_t>(taken.begin(), taken.end()).size() == 1000);
}

}  // namespace random_order_test
