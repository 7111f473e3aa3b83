// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/shared_library.hpp"

#include <doctest/doctest.h>
#include <utility>

namespace shared_library_test {

TEST_CASE("an absent library says why, and has no symbols") {
  const tune::shared_library library("liblibtune_has_no_such_library.so.7");
  CHECK_FALSE(library);
  CHECK(library.error().find("liblibtune_has_no_such_library.so.7") != std::string::npos);
  CHECK(library.symbol("cos") == nullptr);
  CHECK_FALSE(tune::shared_library());
  CHECK_FALSE(tune::shared_library().error().empty());
}

TEST_CASE("a library has its symbols and no others, also after it has moved") {
  tune::shared_library first("libm.so.6");
  REQUIRE_MESSAGE(first, first.error());
  CHECK(first.error().empty());
  tune::shared_library second = std::move(first);
  tune::shared_library library;
  library = std::move(second);
  CHECK(library.symbol("libtune_has_no_such_symbol") == nullptr);
  const auto absolute = library.function<double (*)(double)>("fabs");
  REQUIRE(static_cast<bool>(absolute));
  CHECK(absolute(-2.5) == 2.5);
}

}  // namespace shared_library_test
