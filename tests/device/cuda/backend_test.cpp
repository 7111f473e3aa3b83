// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/cuda/backend.hpp"

#include <doctest/doctest.h>

namespace backend_test {

TEST_CASE("the backend has devices or says why not") {
  const tune::cuda::inventory& found = tune::cuda::take_inventory();
  CHECK(found.devices.empty() != found.absence.empty());
  for (const tune::device& device : found.devices) CHECK(device.info().backend == "CUDA");
}

TEST_CASE("it is asked once") {
  CHECK(&tune::cuda::take_inventory() == &tune::cuda::take_inventory());
}

}  // namespace backend_test
