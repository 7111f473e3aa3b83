// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/shared_library.hpp"

#include <doctest/doctest.h>
#include <utility>

namespace shared_library_test {

TEST_CASE("a library that is not there says why, and has no symbols") {
  const tune::shared_library library("liblibtune_has_no_such_library.so.7");
  CHECK_FALSE(library);
  CHECK(library.error().find("liblibtune_has_no_such_library.so.7") != std::string::npos);
  CHECK(library.symbol("cos") == nullptr);
}

TEST_CASE("a library that was not asked for is absent") {
  const tune::shared_library library;
  CHECK_FALSE(library);
  CHECK_FALSE(library.error().empty());
}

TEST_CASE("a library that is there has its symbols and no others") {
  const tune::shared_library library("libm.so.6");
  REQUIRE_MESSAGE(library, library.error());
  CHECK(library.error().empty());
  CHECK(library.symbol("libtune_has_no_such_symbol") == nullptr);
  const auto absolute = library.function<double (*)(double)>("fabs");
  REQUIRE(static_cast<bool>(absolute));
  CHECK(absolute(-2.5) == 2.5);
}

TEST_CASE("a library moves") {
  tune::shared_library first("libm.so.6");
  tune::shared_library second = std::move(first);
  CHECK(second);
  tune::shared_library third;
  third = std::move(second);
  CHECK(third.symbol("fabs") != nullptr);
}

}  // namespace shared_library_test
