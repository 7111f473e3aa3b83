// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/random_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace random_source_test {

using tune::detail::random_source;

TEST_CASE("numbers are the same on every platform") {
  // The C++ standard fixes the 10000th number of the engine for its default seed.
  constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  random_source standard(5489);
  std::uint64_t last = 0;
  for (int i = 0; i < 10000; ++i) last = standard.below(everything);
  CHECK(last == 9981545732273789042U);
}

template <std::size_t Count>
void check_even(const std::array<int, Count>& drawn) {
  for (const int count : drawn) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

TEST_CASE("every number below the bound is drawn about as often, and no other") {
  random_source random(1);
  std::array<int, 7> drawn{};
  for (int i = 0; i < 7000; ++i) ++drawn.at(random.below(7));
  check_even(drawn);
  CHECK(random.below(1) == 0);
}

TEST_CASE("a bound that does not divide the range of the engine is drawn without bias") {
  // Of a plain remainder, two thirds would be in the lower half.
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  random_source random(1);
  int lower = 0;
  for (int i = 0; i < 3000; ++i) lower += random.below(bound) < bound / 2 ? 1 : 0;
  CHECK(lower > 1350);
  CHECK(lower < 1650);
}

TEST_CASE("numbers of the unit interval fill it evenly, and never reach 1") {
  random_source random(2);
  std::array<int, 10> drawn{};
  for (int i = 0; i < 10000; ++i) {
    const double number = random.unit();
    REQUIRE(number >= 0);
    REQUIRE(number < 1);
    ++drawn.at(static_cast<std::size_t>(number * 10));
  }
  check_even(drawn);
}

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

}  // namespace random_source_test
