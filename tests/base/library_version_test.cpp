// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/library_version.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace library_version_test {

TEST_CASE("the version is three numbers with dots between them") {
  const std::string_view version = tune::library_version();
  CHECK(std::ranges::count(version, '.') == 2);
  CHECK(version.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace library_version_test
