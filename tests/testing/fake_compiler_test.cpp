// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_compiler.hpp"

#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"

namespace fake_compiler_test {

// The log of a text that does not compile; empty for one that does.
std::string log_of(const std::string& text) {
  try {
    tune::testing::check_source({.name = "raw", .text = text, .options = {}}, {});
    return {};
  } catch (const tune::build_error& failure) {
    return failure.log();
  }
}

TEST_CASE("any text compiles") {
  CHECK(log_of("").empty());
  CHECK(log_of("nonsense { \n // #error\n").empty());
}

TEST_CASE("an #error line fails at its line") {
  CHECK(log_of("one\n#error bad thing\nthree") == "raw:2:1: error: error bad thing\n");
}

TEST_CASE("a #line directive says where") {
  CHECK(log_of("one\n#line 1 \"k.kernel\"\nfirst\n#error bad\n") ==
        "k.kernel:2:1: error: error bad\n");
}

TEST_CASE("errors under a condition are not looked at") {
  CHECK(log_of("#if wgs > 4\n#ifdef x\n#endif\n#error bad\n#endif\n").empty());
  CHECK_FALSE(log_of("#if wgs > 4\n#endif\n#error bad\n").empty());
}

}  // namespace fake_compiler_test
