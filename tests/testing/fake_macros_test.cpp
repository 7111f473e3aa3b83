// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/kernel/preamble.hpp"
#include "libtune/testing/fake_kernel.hpp"

namespace fake_macros_test {

using tune::testing::fake_macros;

TEST_CASE("macros are read from the text of a program") {
  const fake_macros macros("int x;\n#define wgs 64\n#define op a + b\n  #define empty\n// end");
  CHECK(macros.text("wgs") == "64");
  CHECK(macros.text("op") == "a + b");
  CHECK(macros.text("empty").empty());
  CHECK(macros.defined("wgs"));
  CHECK_FALSE(macros.defined("x"));
}

TEST_CASE("macros with parameters are left out, and the last definition counts") {
  const fake_macros macros("#define f(x) x\n#define a 1\n#define a 2");
  CHECK_FALSE(macros.defined("f"));
  CHECK(macros.text("a") == "2");
}

TEST_CASE("integers are read, the negative ones in their brackets") {
  const fake_macros macros("#define a 64\n#define b (-3)\n#define c 1.5\n#define d\n#define e ()");
  CHECK(macros.integer("a") == 64);
  CHECK(macros.integer("b") == -3);
  CHECK_THROWS_WITH_AS(macros.integer("c"), doctest::Contains("the macro c is '1.5'"),
                       tune::argument_error);
  CHECK_THROWS_AS(macros.integer("d"), tune::argument_error);
  CHECK_THROWS_AS(macros.integer("e"), tune::argument_error);
}

TEST_CASE("a macro that is not defined is an error that names it") {
  CHECK_THROWS_WITH_AS(fake_macros().text("wgs"), doctest::Contains("no macro wgs"),
                       tune::argument_error);
}

TEST_CASE("the portable preamble can be read") {
  const fake_macros macros(tune::preamble(tune::kernel_language::opencl_c));
  CHECK(macros.text("KERNEL") == "__kernel");
  CHECK(macros.integer("LIBTUNE_OPENCL") == 1);
}

}  // namespace fake_macros_test
