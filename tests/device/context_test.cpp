// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include <doctest/doctest.h>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_device.hpp"

TEST_CASE("a buffer of no bytes is refused before the device is asked") {
  const tune::testing::fake_device fake;
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_buffer(0),
                       doctest::Contains("at least one byte"), tune::argument_error);
  CHECK(fake.calls(tune::testing::fake_call::allocate) == 0);
}

TEST_CASE("what was made from a device keeps it") {
  std::optional<tune::testing::fake_device> fake(std::in_place);
  const tune::buffer buffer = fake->device().create_context().create_buffer(4);
  fake.reset();
  CHECK(buffer.size_bytes() == 4);
  CHECK(buffer.impl()->context()->info().identity.name == "fake device");
}

TEST_CASE("copies of a handle mean the same object") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::context copy = context;
  CHECK(copy == context);
  const tune::buffer buffer = context.create_buffer(4);
  CHECK(buffer == tune::buffer(buffer));
  CHECK_FALSE(buffer == context.create_buffer(4));
}
