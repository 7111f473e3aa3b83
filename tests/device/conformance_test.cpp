// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/devices.hpp"
#include "tests/conformance/backend_conformance.hpp"

namespace conformance_test {

LIBTUNE_DEVICE_TEST_CASE("every backend does what it has to do", device) {
  tune::testing::check_backend_conformance(device);
}

}  // namespace conformance_test
