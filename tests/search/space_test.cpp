// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/space.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace app {
struct tile_tuning {
  int wgs = 1;
  std::size_t rows = 1;
  bool padding = false;
  std::optional<int> unroll = std::nullopt;
  std::string variant = "plain";

  friend bool operator==(const tile_tuning&, const tile_tuning&) = default;
};
struct no_tuning {};
}  // namespace app

LIBTUNE_FIELDS(app::tile_tuning, wgs, rows, padding, unroll, variant)
LIBTUNE_FIELDS(app::no_tuning)

using app::tile_tuning;

namespace space_test {

tune::space<tile_tuning> small_space() {
  tune::space<tile_tuning> space;
  space.add(&tile_tuning::wgs, {32, 64, 128}).add(&tile_tuning::rows, {1, 2});
  return space;
}

bool fits(const tile_tuning& t) { return t.wgs * static_cast<int>(t.rows) <= 128; }

TEST_CASE("a space holds every combination of the members that were added") {
  const auto space = small_space();
  CHECK(space.size() == 6);
  CHECK(space[0] == tile_tuning{.wgs = 32, .rows = 1});
  CHECK(space[1] == tile_tuning{.wgs = 32, .rows = 2});
  CHECK(space[5] == tile_tuning{.wgs = 128, .rows = 2});
  CHECK_THROWS_AS(space[6], tune::argument_error);
}

TEST_CASE("members of every kind of type can be added, also from a range") {
  tune::space<tile_tuning> space;
  space.add(&tile_tuning::padding, {false, true});
  space.add(&tile_tuning::unroll, {std::nullopt, 4});
  space.add(&tile_tuning::variant, {"plain", "tiled"});
  const std::vector<int> rows{1, 2, 4};
  space.add(&tile_tuning::rows, rows);
  const std::set<int> widths{64, 32};
  space.add(&tile_tuning::wgs, widths);
  CHECK(space.size() == 2 * 2 * 2 * 3 * 2);
  CHECK(space[space.size() - 1] == tile_tuning{64, 4, true, 4, "tiled"});
  CHECK_THROWS_WITH_AS(tune::space<tile_tuning>().add(&tile_tuning::rows, std::vector<int>{-1}),
                       doctest::Contains("'rows'"), tune::argument_error);
}

TEST_CASE("members that were not added keep their default") {
  tune::space<tile_tuning> space(tile_tuning{.rows = 8, .variant = "tiled"});
  space.add(&tile_tuning::wgs, {32});
  CHECK(space[0] == tile_tuning{.wgs = 32, .rows = 8, .variant = "tiled"});
}

TEST_CASE("a space to which nothing was added is the default alone") {
  const tune::space<tile_tuning> space;
  CHECK(space.size() == 1);
  CHECK(space[0] == tile_tuning{});
  CHECK(space.find({}) == 0);
  CHECK(tune::space<app::no_tuning>().size() == 1);
}

TEST_CASE("wrong candidates are errors that leave the space as it was") {
  auto space = small_space();
  CHECK_THROWS_WITH_AS(space.add(&tile_tuning::wgs, {1}), doctest::Contains("'wgs'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(space.add(&tile_tuning::padding, {}), doctest::Contains("'padding'"),
                       tune::argument_error);
  CHECK_THROWS_AS(space.add(&tile_tuning::unroll, {1, 1}), tune::argument_error);
  CHECK_THROWS_WITH_AS(space.add(&tile_tuning::unroll, std::vector<double>{1.5}),
                       "the candidate 1.5 does not fit the type of 'unroll'", tune::argument_error);
  CHECK(space.size() == 6);
  CHECK(space.core().parameters().size() == 2);
  space.add(&tile_tuning::unroll, std::vector<double>{32, 64});
  CHECK(space.size() == 12);
}

TEST_CASE("restrictions see the whole tuning, with or without a list of members") {
  auto space = small_space();
  SUBCASE("a function alone") { space.restrict(fits); }
  SUBCASE("with a description") { space.restrict(fits, "fits"); }
  SUBCASE("with its members") { space.restrict(fits, &tile_tuning::rows, &tile_tuning::wgs); }
  SUBCASE("with both") { space.restrict(fits, "fits", &tile_tuning::wgs, &tile_tuning::rows); }
  CHECK(space.size() == 5);
  for (const tile_tuning& t : space) CHECK(fits(t));
  CHECK(space.core().removals().at(0).combinations == 1);
}

TEST_CASE("restrictions are reported by their description, or by their number") {
  auto space = small_space();
  space.restrict(fits)
      .restrict([](const tile_tuning& t) { return t.wgs > 32; }, "wide", &tile_tuning::wgs)
      .restrict([](const tile_tuning& t) { return !t.padding; }, &tile_tuning::padding);
  CHECK(space.core().removals() ==
        std::vector<tune::removal>{{"restriction 1", 1}, {"wide", 2}, {"restriction 3", 0}});
}

TEST_CASE("a member may be added after the restriction that reads it") {
  tune::space<tile_tuning> space;
  space.restrict(fits, "fits", &tile_tuning::wgs, &tile_tuning::rows);
  space.add(&tile_tuning::wgs, {64, 128}).add(&tile_tuning::rows, {1, 2});
  CHECK(space.size() == 3);
}

TEST_CASE("a configuration is found again, and only if it is in the space") {
  auto space = small_space();
  space.restrict(fits);
  for (std::size_t i = 0; i < space.size(); ++i) {
    CHECK(space.find(space[i]) == i);
    CHECK(space.contains(space[i]));
  }
  for (const tile_tuning& other : {tile_tuning{.wgs = 128, .rows = 2},
                                   {.wgs = 33, .rows = 1},
                                   {.wgs = 32, .rows = 1, .padding = true}}) {
    CHECK_FALSE(space.find(other));
    CHECK_FALSE(space.contains(other));
  }
}

TEST_CASE("a space is a range of tunings") {
  const auto space = small_space();
  static_assert(std::forward_iterator<tune::space<tile_tuning>::iterator>);
  std::vector<tile_tuning> all;
  for (const tile_tuning& t : space) all.push_back(t);
  CHECK(all.size() == 6);
  CHECK(all.back() == space[5]);
  CHECK(std::distance(space.begin(), space.end()) == 6);
}

TEST_CASE("a sample of tunings is that of the core") {
  const auto space = small_space();
  const auto drawn = space.sample(3, 11);
  const auto indices = space.core().sample(3, 11);
  CHECK(drawn == std::vector{space[indices[0]], space[indices[1]], space[indices[2]]});
}

TEST_CASE("what a configuration will ask of the device is known only if it is declared") {
  auto space = small_space();
  CHECK_FALSE(space.resources_of(space[0]));
  space.needs([](const tile_tuning& t) {
    return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), t.rows, 1},
                           .local_memory_bytes = t.rows * 4};
  });
  CHECK(space.resources_of(space[1]) ==
        tune::resources{.work_group = {32, 2, 1}, .local_memory_bytes = 8});
}

TEST_CASE("copies of a space and of its core are independent of later changes") {
  auto space = small_space();
  const auto core = space.core();
  auto copy = space;
  copy.restrict([](const tile_tuning& t) { return t.wgs == 32; });
  space.add(&tile_tuning::padding, {false, true});
  CHECK(core.size() == 6);
  CHECK(copy.size() == 2);
  CHECK(space.size() == 12);
}

TEST_CASE("a core and a strategy outlive the space they came from") {
  std::unique_ptr<tune::strategy> searching;
  {
    auto space = small_space();
    space.restrict(fits);
    searching = tune::make_strategy("exhaustive", space.core());
  }
  CHECK(searching->ask() == 0);
  CHECK(searching->space().size() == 5);
}

template <class Member, class Given>
void refuse(Given given) {
  CAPTURE(given);
  CHECK_THROWS_AS(tune::detail::exact_candidate<Member>("wgs", given), tune::argument_error);
}

TEST_CASE("a candidate of another type has to fit the member exactly") {
  using tune::detail::exact_candidate;
  using limits = std::numeric_limits<double>;
  CHECK(exact_candidate<int>("wgs", std::size_t{64}) == 64);
  CHECK(exact_candidate<std::uint8_t>("wgs", 255) == 255);
  CHECK(exact_candidate<bool>("flag", 1));
  CHECK(exact_candidate<double>("x", 3) == 3.0);
  CHECK(exact_candidate<int>("wgs", 64.0) == 64);
  CHECK(exact_candidate<int>("wgs", -3.0F) == -3);
  CHECK(exact_candidate<std::int64_t>("n", -9223372036854775808.0) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(exact_candidate<bool>("flag", 1.0));
  CHECK(exact_candidate<std::optional<int>>("unroll", 4.0) == 4);

  CHECK_THROWS_WITH_AS(exact_candidate<std::uint8_t>("wgs", 256),
                       "the candidate 256 does not fit the type of 'wgs'", tune::argument_error);
  refuse<unsigned>(-1);
  refuse<int>(std::numeric_limits<unsigned>::max());
  refuse<bool>(2);
  refuse<bool>(0.5);
  refuse<int>(0.1F);
  refuse<int>(2147483648.0);
  refuse<unsigned>(-1.0);
  refuse<std::uint64_t>(18446744073709551616.0);
  refuse<std::int64_t>(9223372036854775808.0F);
  refuse<std::optional<int>>(4.5);
  refuse<std::optional<std::uint8_t>>(256);
  for (const double odd : {limits::infinity(), limits::quiet_NaN(), 1e300}) {
    refuse<int>(odd);
    refuse<std::uint8_t>(odd);
  }
}

TEST_CASE("a floating member takes the values that it can hold, rounded as its type is") {
  using tune::detail::exact_candidate;
  using limits = std::numeric_limits<float>;
  CHECK(exact_candidate<float>("x", 0.1) == 0.1F);
  CHECK(exact_candidate<float>("x", 16777216) == 16777216.0F);
  CHECK(exact_candidate<float>("x", std::numeric_limits<double>::infinity()) == limits::infinity());
  refuse<float>(16777217);
  refuse<float>(std::numeric_limits<int>::max());
  refuse<double>(std::numeric_limits<std::uint64_t>::max());
  refuse<float>(1e300);
}

}  // namespace space_test
