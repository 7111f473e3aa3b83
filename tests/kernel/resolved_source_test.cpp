// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/resolved_source.hpp"

#include <doctest/doctest.h>

namespace resolved_source_test {

TEST_CASE("a line directive names line and file") {
  CHECK(tune::line_directive(12, "a.kernel") == "#line 12 \"a.kernel\"\n");
}

TEST_CASE("a file without a name is called a string") {
  for (const std::size_t line : {1, 2, 3}) {
    CHECK(tune::line_directive(line, "") == "#line " + std::to_string(line) + " \"<string>\"\n");
  }
}

TEST_CASE("quotes and backslashes in a file's name are escaped") {
  CHECK(tune::line_directive(1, R"(abc"def\ghi)") == "#line 1 \"abc\\\"def\\\\ghi\"\n");
}

}  // namespace resolved_source_test
