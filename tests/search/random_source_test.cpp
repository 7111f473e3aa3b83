// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random_source.hpp"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>

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

TEST_CASE("every number below the bound is drawn about as often, and no other") {
  random_source random(1);
  std::array<int, 7> drawn{};
  for (int i = 0; i < 7000; ++i) ++drawn.at(random.below(7));
  for (const int count : drawn) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
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

TEST_CASE("there is one number below one") {
  random_source random(3);
  CHECK(random.below(1) == 0);
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
  for (const int count : drawn) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

}  // namespace random_source_test
