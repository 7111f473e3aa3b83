// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/space_outline.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/search/sample_spaces.hpp"

namespace space_outline_test {

using tune::detail::exact_candidate;
using tune::detail::space_outline;

TEST_CASE("a candidate of another integer type has to fit the member") {
  CHECK(exact_candidate<int>("wgs", std::size_t{64}) == 64);
  CHECK(exact_candidate<std::uint8_t>("wgs", 255) == 255);
  CHECK(exact_candidate<bool>("flag", 1));
  CHECK_THROWS_WITH_AS(exact_candidate<std::uint8_t>("wgs", 256),
                       "the candidate 256 does not fit the type of 'wgs'", tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<unsigned>("wgs", -1), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<int>("wgs", std::numeric_limits<unsigned>::max()),
                  tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<bool>("flag", 2), tune::argument_error);
  CHECK(exact_candidate<double>("x", 3) == 3.0);
}

TEST_CASE("a floating candidate has to fit an integer member without a rest") {
  CHECK(exact_candidate<int>("wgs", 64.0) == 64);
  CHECK(exact_candidate<int>("wgs", -3.0F) == -3);
  CHECK(exact_candidate<std::int64_t>("n", -9223372036854775808.0) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(exact_candidate<bool>("flag", 1.0));
  CHECK_THROWS_WITH_AS(exact_candidate<int>("wgs", 64.5),
                       "the candidate 64.5 does not fit the type of 'wgs'", tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<int>("wgs", 0.1F), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<int>("wgs", 2147483648.0), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<unsigned>("wgs", -1.0), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<std::uint64_t>("n", 18446744073709551616.0),
                  tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<std::int64_t>("n", 9223372036854775808.0F), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<bool>("flag", 0.5), tune::argument_error);
  for (const double odd :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    CHECK_THROWS_AS(exact_candidate<int>("wgs", odd), tune::argument_error);
    CHECK_THROWS_AS(exact_candidate<std::uint8_t>("wgs", odd), tune::argument_error);
  }
}

TEST_CASE("a floating member takes what it can hold, rounded as its type is") {
  CHECK(exact_candidate<float>("x", 0.1) == 0.1F);
  CHECK(exact_candidate<float>("x", 16777216) == 16777216.0F);
  CHECK_THROWS_AS(exact_candidate<float>("x", 16777217), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<float>("x", std::numeric_limits<int>::max()),
                  tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<double>("x", std::numeric_limits<std::uint64_t>::max()),
                  tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<float>("x", 1e300), tune::argument_error);
  CHECK(exact_candidate<float>("x", std::numeric_limits<double>::infinity()) ==
        std::numeric_limits<float>::infinity());
}

TEST_CASE("a number that may be missing is no wider for that") {
  CHECK(exact_candidate<std::optional<int>>("unroll", 4.0) == 4);
  CHECK_THROWS_AS(exact_candidate<std::optional<int>>("unroll", 4.5), tune::argument_error);
  CHECK_THROWS_AS(exact_candidate<std::optional<std::uint8_t>>("unroll", 256),
                  tune::argument_error);
}

TEST_CASE("only fields that are no parameters are compared with the defaults") {
  space_outline outline;
  outline.add_parameter(tune::testing::counting("a", 2));
  const std::vector<tune::named_value> defaults{{"a", std::int64_t{0}}, {"b", 1.5}};
  CHECK(outline.has_defaults(std::vector<tune::named_value>{{"a", std::int64_t{1}}, {"b", 1.5}},
                             defaults));
  CHECK_FALSE(outline.has_defaults(
      std::vector<tune::named_value>{{"a", std::int64_t{0}}, {"b", 2.5}}, defaults));
}

}  // namespace space_outline_test
