// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A pipeline that runs comes to no door, allocates nothing and takes no lock, as far as libtune is
// asked: what platforms do is theirs. tests/device/cuda/sealed_pipeline_test.cpp watches system
// calls.
#include "tests/device/sealed_pipeline.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/allocation_counter.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/fixtures.hpp"
#include "tests/device/lock_watch.hpp"

namespace sealed_pipeline_test {

LIBTUNE_DEVICE_TEST_CASE("a sealed pipeline comes to no door, allocates nothing, takes no lock",
                         device) {
  sealed::pipeline pipeline(device);
  const tune::testing::scoped_seal seal({.scope = tune::seal_scope::program});
  const tune::testing::allocation_counter allocations;
  const sealed::lock_watch locks;
  for (int i = 0; i < 100; ++i) pipeline.run();
  CHECK(allocations.count() == 0);
  CHECK(locks.count() == 0);
  CHECK(tune::seal_report().total() == 0);
  CHECK(pipeline.is_right());
}

LIBTUNE_DEVICE_TEST_CASE("a lock that libtune takes is seen", device) {
  const tune::context context = device.create_context();
  const sealed::lock_watch locks;
  context.attach(std::make_shared<const int>(1));
  CHECK(locks.count() == 1);
}

}  // namespace sealed_pipeline_test
