// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/loss_bound.hpp"

#include <cmath>
#include <doctest/doctest.h>

namespace loss_bound_test {

TEST_CASE("the bound of losses is a quantile, and infinite for few") {
  CHECK(std::isinf(tune::loss_bound({0.3, 0.1, 0.2}, 0.9)));
  CHECK(tune::loss_bound({9, 1, 2, 3, 4, 5, 6, 7, 8}, 0.9) == 9);
  CHECK(tune::loss_bound({9, 1, 2, 3, 4, 5, 6, 7, 8}, 0.5) == 5);
}

}  // namespace loss_bound_test
