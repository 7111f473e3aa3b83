// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/limits.hpp"

#include <doctest/doctest.h>

namespace limits_test {

const tune::device_limits limits{.max_work_group_size = 1024,
                                 .max_work_group_extent = {1024, 1024, 64},
                                 .local_memory_bytes = 49152};

TEST_CASE("what the device allows breaks nothing") {
  CHECK_FALSE(tune::find_broken_limit({}, limits));
  CHECK_FALSE(tune::find_broken_limit({{32, 32, 1}, 49152}, limits));
  CHECK_FALSE(tune::find_broken_limit({{16, 1, 64}, 0}, limits));
}

TEST_CASE("a broken limit is named with both numbers") {
  CHECK(tune::find_broken_limit({{64, 32, 1}, 0}, limits) ==
        "a work group of 2048 work items, the device allows 1024");
  CHECK(tune::find_broken_limit({{1, 1, 128}, 0}, limits) ==
        "a work group of 128 along z, the device allows 64");
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49153}, limits) ==
        "49153 bytes of local memory, the device has 49152");
}

}  // namespace limits_test
