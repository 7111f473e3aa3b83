// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/device/kernel.hpp"

namespace nd_range_test {

TEST_CASE("a work size counts its work items") {
  CHECK(tune::work_size{}.total() == 1);
  CHECK(tune::work_size{4, 3, 2}.total() == 24);
  CHECK(tune::work_size{4, 0, 2}.total() == 0);
}

TEST_CASE("sizes are rounded up to a step") {
  CHECK(tune::round_up(0, 8) == 0);
  CHECK(tune::round_up(1, 8) == 8);
  CHECK(tune::round_up(8, 8) == 8);
  CHECK(tune::round_up(10, 3) == 12);
}

TEST_CASE("divisions are rounded up") {
  CHECK(tune::divide_up(0, 8) == 0);
  CHECK(tune::divide_up(8, 8) == 1);
  CHECK(tune::divide_up(9, 8) == 2);
}

}  // namespace nd_range_test
