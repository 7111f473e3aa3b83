// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/defines.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <sstream>
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

namespace {

/// What the refusal of a macro says; empty if it is taken.
std::string refusal(const std::string& name, const std::string& text) {
  try {
    tune::defines().add(name, text.c_str());
  } catch (const tune::argument_error& refused) {
    return refused.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a text that reaches beyond its line is refused") {
  for (const char* text :
       {"path\\", "path\\ \t", "a ?\?/", "a\nb", "a\rb", "a\v\nb", "1 /* and", "a /* b */ c",
        "http://x", "R\"(a", "\"a\" /*", "\"a /*", "\"\\\" // \" /*"}) {
    CAPTURE(text);
    CHECK(refusal("a", text).find("the text of the macro a ") == 0);
  }
  for (const char* text : {"", "a / b * c", "\"// no comment /*\"", "'\"' + 1", "\"\\\\\"",
                           "a \\ b", "'/'", "\ta", "1'000'000"}) {
    CAPTURE(text);
    CHECK(refusal("a", text).empty());
  }
}

TEST_CASE("a macro that stands after another is defined") {
  // It was not, after a text that ended in a backslash.
  CHECK(tune::defines().add("a", "path").add("b", 7).text() == "#define a path\n#define b 7\n");
}

TEST_CASE("a name that hides a word of the preamble is refused, and the word is called so") {
  std::istringstream names(
      "KERNEL GLOBAL LOCAL LOCAL_DECL CONSTANT CONSTANT_DECL BARRIER UNROLL UNROLL_BY DEVICE_FN "
      "RESTRICT REQD_WORK_GROUP_SIZE ATOMIC_ADD FMA RSQRT get_local_id get_global_size "
      "get_num_groups as_float as_ulong half uint bfloat16 vload_half vstore_bfloat16 make_float2 "
      "make_uchar8");
  for (std::string name; names >> name;) {
    CAPTURE(name);
    CHECK(refusal(name, "1").find("is a word of libtune's kernels") != std::string::npos);
  }
}

TEST_CASE("keywords, types and reserved names of either language are refused") {
  for (const char* name : {"int", "for", "kernel", "local", "global", "constant", "float4",
                           "float16", "longlong2", "template", "threadIdx", "size_t", "and"}) {
    CAPTURE(name);
    CHECK(refusal(name, "1").find("a word of OpenCL C or CUDA C++") != std::string::npos);
  }
  for (const char* name : {"__global__", "LIBTUNE_CUDA", "LIBTUNE_MINE", "libtune_mine"}) {
    CAPTURE(name);
    CHECK_FALSE(refusal(name, "1").empty());
  }
  for (const char* name : {"wgs", "type", "n", "x", "step", "rows", "float5", "Kernel", "index",
                           "float", "size", "block_size_x", "TILE", "WGS"}) {
    CAPTURE(name);
    CHECK(refusal(name, "1").empty() == (std::string(name) != "float"));
  }
}

namespace app {
struct hiding {
  int LOCAL = 1;
};
}  // namespace app
LIBTUNE_FIELDS(app::hiding, LOCAL)

TEST_CASE("a field that hides a word is refused as a macro is") {
  CHECK_THROWS_WITH_AS(tune::defines(app::hiding{}),
                       doctest::Contains("'LOCAL' cannot be the name of a macro or a field"),
                       tune::argument_error);
}
