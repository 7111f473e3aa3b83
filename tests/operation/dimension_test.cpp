// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/dimension.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

#include "libtune/base/error.hpp"

namespace {

struct three_floats {
  float values[3];
};
struct large_struct {
  char bytes[256];
};

}  // namespace

LIBTUNE_ELEMENT(three_floats)
LIBTUNE_ELEMENT(large_struct)

using tune::dimension;
using tune::dtype;
using tune::element_type;
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
    std::size_t size = 0;
    padding needs = {};
    std::size_t required = 0;
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
      {17, {.preferred = 8}, 24},
      {24, {.preferred = 8}, 24},
      {17, {.alignment = 16, .preferred = 8}, 32},
      {17, {.preferred = 8, .exact = true}, 17},
      {29, {.preferred = 2, .type = dtype::float32}, 30},
      {29, {.preferred = 4, .type = dtype::float32}, 32},
      {33, {.preferred = 4, .type = dtype::float32}, 64},
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

TEST_CASE("what is preferred is no condition, and dimensions that are linked prefer the most") {
  dimension a(17, {.preferred = 4});
  CHECK(a.is_valid(17));
  CHECK(a.alignment() == 1);
  dimension b(17, {.preferred = 8});
  a.link(b);
  CHECK(a.required_padded_size() == 24);
  CHECK(a.is_valid(18));
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
  CHECK_THROWS_WITH_AS(dimension(8, {.preferred = 12}),
                       "a multiple that is preferred is a power of two, not 12",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.round = 0}), doctest::Contains("multiple of 0"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(dimension(8, {.minimum = 7}),
                       "the minimum padded size 7 is less than the size 8", tune::argument_error);
}

TEST_CASE("long rows of elements that are a power of two start on 128 bytes") {
  struct {
    std::size_t size = 0;
    padding needs = {};
    std::size_t hint = 0;
    std::size_t required = 0;
  } const cases[] = {
      {1100, {.round = 200, .type = dtype::float32}, 32, 1216},
      {1100, {.exact = true, .type = dtype::float32}, 32, 1100},
      {31, {.type = dtype::float32}, 32, 31},
      {32, {.type = dtype::float32}, 32, 32},
      {33, {.type = dtype::float32}, 32, 64},
      {1100, {.type = element_type::of<three_floats>()}, 1, 1100},
      {1100, {.type = element_type::of<large_struct>()}, 1, 1100},
      {129, {.type = dtype::uint8}, 128, 256},
  };
  for (const auto& each : cases) {
    CAPTURE(each.size);
    const dimension d(each.size, each.needs);
    CHECK(d.hint() == each.hint);
    CHECK(d.required_padded_size() == each.required);
    CHECK(d.is_valid(each.required));
  }
}

TEST_CASE("of several hints the largest counts, and none is a condition") {
  dimension d = 100;
  d.add_hint(dtype::float32);
  d.add_hint(dtype::float64);
  CHECK(d.hint() == 32);
  d.add_hint(dtype::int16);
  CHECK(d.hint() == 64);
  CHECK(d.required_padded_size() == 128);
  CHECK(d.is_valid(100));
}

TEST_CASE("linked dimensions are one, with the rules of all") {
  dimension a(22, {.minimum = 28, .alignment = 4});
  dimension b(22, {.minimum = 24, .alignment = 8, .type = dtype::int32});
  dimension c(22, {.type = dtype::uint16});
  CHECK_FALSE(a == b);
  a.link(b);
  CHECK(a == b);
  CHECK_FALSE(a == c);
  a.link(c);
  a.link(b);
  for (const dimension& each : {a, b, c}) {
    CHECK(each == a);
    CHECK(each.minimum() == 28);
    CHECK(each.alignment() == 8);
    CHECK(each.hint() == 64);
    CHECK_FALSE(each.is_exact());
    CHECK(each.required_padded_size() == 32);
  }
}

TEST_CASE("groups of linked dimensions can be linked, from either side") {
  for (const bool large_first : {true, false}) {
    std::vector<dimension> all;
    for (std::size_t i = 0; i < 5; ++i) all.emplace_back(10, padding{.minimum = 10 + i});
    all[0].link(all[1]);
    all[2].link(all[3]);
    all[4].link(all[3]);
    large_first ? all[4].link(all[0]) : all[0].link(all[4]);
    for (const dimension& each : all) CHECK(each.minimum() == 14);
  }
}

TEST_CASE("an exact dimension stays exact, and as it is, when it is linked") {
  dimension exact(20, {.minimum = 24, .exact = true});
  dimension loose(20, {.alignment = 8});
  loose.link(exact);
  CHECK(loose.is_exact());
  CHECK(loose.required_padded_size() == 24);
  CHECK_FALSE(loose.is_valid(32));
}

TEST_CASE("a link that fails says why and changes nothing") {
  const auto refuse = [](dimension a, dimension b, const char* text) {
    const std::size_t before[] = {a.required_padded_size(), b.required_padded_size()};
    CHECK_THROWS_WITH_AS(a.link(b), text, tune::argument_error);
    CHECK_THROWS_AS(b.link(a), tune::argument_error);
    CHECK_FALSE(a == b);
    CHECK(a.required_padded_size() == before[0]);
    CHECK(b.required_padded_size() == before[1]);
  };
  refuse(22, 23, "dimensions of sizes 22 and 23 cannot be linked");
  refuse({22, {.exact = true}}, {22, {.minimum = 28}},
         "an exact dimension of padded size 22 cannot be linked to one that needs 28 with the "
         "alignment 1");
  refuse({22, {.exact = true}}, {22, {.alignment = 4}},
         "an exact dimension of padded size 22 cannot be linked to one that needs 24 with the "
         "alignment 4");
  refuse({22, {.exact = true}}, {22, {.minimum = 23, .exact = true}},
         "an exact dimension of padded size 22 cannot be linked to one that needs exactly 23 with "
         "the alignment 1");
}

TEST_CASE("a frozen dimension takes neither hints nor links, and its copies neither") {
  dimension frozen = 22;
  dimension copy = frozen;
  dimension other = 22;
  frozen.freeze();
  CHECK(copy.is_frozen());
  CHECK_THROWS_WITH_AS(copy.add_hint(dtype::int8),
                       "a dimension of size 22 takes no hint once an array has been bound to it",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(other.link(frozen),
                       "a dimension of size 22 cannot be linked once an array has been bound to it "
                       "or to the other",
                       tune::argument_error);
  CHECK_THROWS_AS(frozen.link(other), tune::argument_error);
  CHECK(frozen.hint() == 1);
  frozen.link(copy);  // one already
}

TEST_CASE("a copy means the same dimension") {
  dimension d = 100;
  const dimension copy = d;
  d.add_hint(dtype::int32);
  CHECK(copy == d);
  CHECK(copy.required_padded_size() == 128);
  CHECK_FALSE(dimension(100) == d);
}

TEST_CASE("a guard takes links back unless it is told to keep them") {
  for (const bool keep : {false, true}) {
    dimension a = 22;
    dimension b(22, {.minimum = 24});
    dimension c(22, {.minimum = 30});
    a.link(b);
    {
      tune::dimension_guard guard({a, b, c});
      b.link(c);
      c.freeze();
      CHECK(a.minimum() == 30);
      if (keep) guard.keep();
    }
    CHECK(a == b);
    CHECK((a == c) == keep);
    CHECK(a.is_frozen() == keep);
    CHECK(a.minimum() == (keep ? 30 : 24));
    CHECK(c.minimum() == 30);
  }
}
