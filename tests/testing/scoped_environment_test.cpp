// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <doctest/doctest.h>
#include <string>

#include "libtune/testing/fixtures.hpp"

namespace scoped_environment_test {

using tune::testing::scoped_environment;

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

TEST_CASE("a variable has its value in the scope and its old one afterwards") {
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
  {
    const scoped_environment outer("LIBTUNE_TESTING_X", "outer");
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
    {
      const scoped_environment inner("LIBTUNE_TESTING_X", nullptr);
      CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
    }
    CHECK(text_of("LIBTUNE_TESTING_X") == "outer");
  }
  CHECK(text_of("LIBTUNE_TESTING_X") == "(unset)");
}

}  // namespace scoped_environment_test
