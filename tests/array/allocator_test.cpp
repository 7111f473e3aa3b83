// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/allocator.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/testing/fake_device.hpp"

namespace allocator_test {

using tune::testing::fake_call;
using tune::testing::fake_device;

TEST_CASE("a plain allocator makes a buffer of the context's for each request") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::plain_allocator memory(context);
  tune::allocator& abstract = memory;
  CHECK(abstract.context() == context);
  {
    const tune::buffer first = abstract.allocate(100);
    const tune::buffer second = abstract.allocate(50);
    CHECK(first.size_bytes() == 100);
    CHECK(fake.live_bytes() == 150);
    CHECK(fake.calls(fake_call::allocate) == 2);
  }
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("memory of no bytes is an error, and so is memory that there is not") {
  const fake_device fake;
  tune::plain_allocator memory(fake.device().create_context());
  CHECK_THROWS_WITH_AS(memory.allocate(0), "an allocator was asked for a buffer of no bytes",
                       tune::argument_error);
  fake.fail_next(fake_call::allocate, 1, {.failure = tune::device_failure::out_of_memory});
  CHECK_THROWS_AS(memory.allocate(1), tune::device_error);
}

}  // namespace allocator_test
