// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/match.hpp"

#include <doctest/doctest.h>

namespace match_test {

using tune::match_step;

TEST_CASE("every step has its word") {
  CHECK(tune::match_step_name(match_step::exact) == "exact");
  CHECK(tune::match_step_name(match_step::software) == "other software");
  CHECK(tune::match_step_name(match_step::any) == "any");
}

}  // namespace match_test
