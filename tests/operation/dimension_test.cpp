// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/dimension.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"

using tune::dimension;
using tune::padding;

TEST_CASE("a size alone is a dimension that asks for no padding and allows any") {
  const dimension d = 17;
  CHECK(d.size() == 17);
  CHECK(d.required_padded_size() == 17);
  CHECK_FALSE(d.is_valid(16));
  CHECK(d.is_valid(17));
  CHECK(d.is_valid(1000));
}

TEST_CASE("the required padded size is the least that satisfies the rules") {
  struct {
    std::size_t size;
    padding needs;
    std::size_t required;
  } const cases[] = {
      {17, {.round = 4}, 20},
      {20, {.round = 5}, 20},
      {30, {.round = 7, .alignment = 4}, 36},
      {1100, {.exact = true}, 1100},
      {18, {.alignment = 8}, 24},
      {20, {.minimum = 23, .alignment = 4, .exact = true}, 24},
      {22, {.minimum = 28, .alignment = 4}, 28},
      {22, {.minimum = 24, .alignment = 8}, 24},
      {0, {.round = 8, .alignment = 4}, 0},
      {1, {.round = 8, .alignment = 4}, 8},
  };
  for (const auto& each : cases) {
    CAPTURE(each.size);
    const dimension d(each.size, each.needs);
    CHECK(d.size() == each.size);
    CHECK(d.required_padded_size() == each.required);
    CHECK(d.is_valid(each.required));
  }
}

TEST_CASE("a minimum replaces rounding") {
  CHECK(dimension(17, {.round = 32, .minimum = 18}).required_padded_size() == 18);
}

TEST_CASE("round is a minimum, alignment a rule of divisibility") {
  const dimension d(17, {.round = 8, .alignment = 4});
  CHECK(d.is_valid(24));
  CHECK_FALSE(d.is_valid(20));
  CHECK(d.is_valid(28));
  CHECK_FALSE(d.is_valid(30));
}

TEST_CASE("an exact dimension allows the required size and no other") {
  const dimension aligned(20, {.alignment = 4, .exact = true});
  CHECK(aligned.is_valid(20));
  CHECK_FALSE(aligned.is_valid(24));
  const dimension at_least(20, {.minimum = 23, .exact = true});
  CHECK(at_least.is_valid(23));
  CHECK_FALSE(at_least.is_valid(24));
  CHECK_FALSE(at_least.is_valid(20));
}

TEST_CASE("rules that cannot mean anything are errors that say so") {
  CHECK_THROWS_WITH_AS(dimension(8, {.alignment = 3}), "an alignment is a power of two, not 3",
                       tune::argument_error);
  CHECK_THROWS_AS(dimension(8, {.alignment = 0}), tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.round = 0}), doctest::Contains("multiple of 0"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.minimum = 7}),
                       "the minimum padded size 7 is less than the size 8", tune::argument_error);
}
