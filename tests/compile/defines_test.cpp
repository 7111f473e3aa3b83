// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/defines.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <string>

#include "libtune/base/error.hpp"

namespace app {
enum class layout { rows, columns };
struct key {
  tune::dtype type = tune::dtype::float32;
  layout order = layout::columns;
  std::string op = "a + b";
};
struct tuning {
  int wgs = 64;
  int shift = -3;
  bool vectorise = true;
  float scale = 0.1F;
  double offset = 0.1;
  std::uint64_t seed = 18446744073709551615U;
  std::optional<int> absent;
  std::optional<int> present = 2;
};
struct clash {
  int wgs = 32;
};
}  // namespace app

LIBTUNE_ENUM(app::layout, rows, columns)
LIBTUNE_FIELDS(app::key, type, order, op)
LIBTUNE_FIELDS(app::tuning, wgs, shift, vectorise, scale, offset, seed, absent, present)
LIBTUNE_FIELDS(app::clash, wgs)

TEST_CASE("fields become macros of their own name") {
  CHECK(tune::defines(app::key{}, app::tuning{}).text() ==
        "#define type float\n"
        "#define order columns\n"
        "#define op a + b\n"
        "#define wgs 64\n"
        "#define shift (-3)\n"
        "#define vectorise 1\n"
        "#define scale 0x1.99999ap-4f\n"
        "#define offset 0x1.999999999999ap-4\n"
        "#define seed 18446744073709551615\n"
        "#define present 2\n");
}

TEST_CASE("macros can be added by hand, and the configuration is kept for messages") {
  tune::defines macros(app::clash{});
  macros.add("width", 7).add("expression", "x * 2");
  CHECK(macros.text() == "#define wgs 32\n#define width 7\n#define expression x * 2\n");
  CHECK(tune::to_string(macros.values()) == "wgs=32, width=7, expression=x * 2");
}

TEST_CASE("a macro defined twice has to mean the same") {
  CHECK(tune::defines(app::clash{}, app::clash{}).text() == "#define wgs 32\n");
  CHECK_THROWS_WITH_AS(tune::defines(app::tuning{}, app::clash{}),
                       doctest::Contains("wgs is defined as '64' and again as '32'"),
                       tune::argument_error);
}

TEST_CASE("names and texts that would break the source are refused") {
  tune::defines macros;
  CHECK_THROWS_AS(macros.add("1x", 1), tune::argument_error);
  CHECK_THROWS_AS(macros.add("a b", 1), tune::argument_error);
  CHECK_THROWS_AS(macros.add("", 1), tune::argument_error);
  CHECK_THROWS_AS(macros.add("x", "1\n#include </etc/passwd>"), tune::argument_error);
}
