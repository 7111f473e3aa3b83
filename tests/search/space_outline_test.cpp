// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space_outline.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/search/sample_spaces.hpp"

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

TEST_CASE("only fields that are no parameters are compared with the defaults") {
  space_outline outline;
  outline.add_parameter(tune::testing::counting("a", 2));
  const std::vector<tune::named_value> defaults{{"a", std::int64_t{0}}, {"b", 1.5}};
  CHECK(outline.has_defaults(std::vector<tune::named_value>{{"a", std::int64_t{1}}, {"b", 1.5}},
                             defaults));
  CHECK_FALSE(outline.has_defaults(
      std::vector<tune::named_value>{{"a", std::int64_t{0}}, {"b", 2.5}}, defaults));
}
