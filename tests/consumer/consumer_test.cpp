// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/base/dtype.hpp"
#include "libtune/testing/fixtures.hpp"

namespace consumer_test {

TEST_CASE("a test program needs no main of its own") {
  CHECK(tune::dtype_bytes(tune::dtype::float32) == 4);
}

}  // namespace consumer_test
