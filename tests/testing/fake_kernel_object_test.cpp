// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_kernel_object.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/kernel.hpp"

namespace fake_kernel_object_test {

using tune::testing::fake_parameter;

struct bench {
  tune::testing::fake_device fake;
  tune::context context = fake.device().create_context();
  tune::buffer buffer = context.create_buffer(4);

  tune::kernel make(tune::testing::fake_kernel kernel) const {
    fake.add_kernel("k", std::move(kernel));
    return context.create_program({.name = "p", .text = "", .options = {}}).create_kernel("k");
  }
};

TEST_CASE_FIXTURE(bench, "declared parameters take only what they are") {
  tune::kernel kernel =
      make({.parameters = {fake_parameter::buffer(), fake_parameter::scalar<int>()}, .run = {}});
  CHECK_NOTHROW(kernel.set_arguments(buffer, 1));
  CHECK_THROWS_WITH_AS(kernel.set_argument(0, 1),
                       doctest::Contains("4 bytes given, the parameter takes a buffer"),
                       tune::device_error);
  CHECK_THROWS_WITH_AS(kernel.set_argument(1, buffer),
                       doctest::Contains("a buffer given, the parameter takes 4 bytes"),
                       tune::device_error);
  CHECK_THROWS_AS(kernel.set_argument(1, 1.0), tune::device_error);
}

TEST_CASE_FIXTURE(bench, "undeclared parameters take anything") {
  tune::kernel kernel = make({.parameters = {fake_parameter()}, .run = {}});
  CHECK_NOTHROW(kernel.set_argument(0, 1.0));
  CHECK_NOTHROW(kernel.set_argument(0, buffer));
}

TEST_CASE_FIXTURE(bench, "an index beyond the last is refused as an invalid launch") {
  tune::kernel kernel = make({.parameters = {}, .run = {}});
  try {
    kernel.set_argument(0, 1);
    FAIL("accepted");
  } catch (const tune::device_error& failure) {
    CHECK(failure.failure() == tune::device_failure::invalid_launch);
  }
}

TEST_CASE_FIXTURE(bench, "a kernel object keeps the function of the time when it was made") {
  int calls = 0;
  tune::kernel old = make({.parameters = {}, .run = [&](tune::testing::fake_launch&) { ++calls; }});
  tune::kernel replaced = make({.parameters = {}, .run = {}});
  tune::command_queue queue = context.create_command_queue();
  queue.enqueue(replaced, {});
  CHECK(calls == 0);
  queue.enqueue(old, {});
  CHECK(calls == 1);
}

}  // namespace fake_kernel_object_test
