// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/match.hpp"

#include <doctest/doctest.h>

namespace match_test {

using tune::match_step;

TEST_CASE("every step has its word") {
  CHECK(tune::match_step_name(match_step::none) == "none");
  CHECK(tune::match_step_name(match_step::compute_units) == "compute units");
  CHECK(tune::match_step_name(match_step::device) == "device");
}

}  // namespace match_test
