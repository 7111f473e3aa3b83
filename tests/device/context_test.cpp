// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/context.hpp"

#include <doctest/doctest.h>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_device.hpp"

namespace context_test {

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

TEST_CASE("a sub-buffer says what is wrong with it before the device is asked") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  const tune::buffer whole = context.create_buffer(256);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 192, 65),
                       "a sub-buffer of 65 bytes at 192 leaves its buffer of 256 bytes",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(context.create_sub_buffer(whole, 32, 1),
                       doctest::Contains("aligned to the 64 bytes of device 'fake device'"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(fake.device().create_context().create_sub_buffer(whole, 0, 1),
                       doctest::Contains("another context"), tune::argument_error);
}

TEST_CASE("the memory of a buffer lives as long as its parts") {
  const tune::testing::fake_device fake;
  const tune::context context = fake.device().create_context();
  std::optional<tune::buffer> whole = context.create_buffer(256);
  std::optional<tune::buffer> part = context.create_sub_buffer(*whole, 128, 64);
  CHECK(fake.live_bytes() == 256);
  whole.reset();
  CHECK(fake.live_bytes() == 256);
  part.reset();
  CHECK(fake.live_bytes() == 0);
}

}  // namespace context_test
