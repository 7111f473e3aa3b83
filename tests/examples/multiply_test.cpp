// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How a user tests an operation, as docs/testing.md shows it.
#include "libtune/testing/devices.hpp"
// [testing]
#include <doctest/doctest.h>
#include <libtune/testing/devices.hpp>
#include <libtune/testing/run_tests.hpp>

#include "examples/multiply/multiply.hpp"

LIBTUNE_DEVICE_TEST_CASE("numbers are doubled", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  auto op = multiply_template(context).instantiate(queue, 5);  // the test default, 32
  op.ensure_all_bound();
  tune::host_array<float> numbers({5});
  numbers(3) = 21.0F;
  op.buffer("data").set(queue, numbers);
  op.run();
  CHECK(op.buffer("data").get<float>(queue)(3) == 42.0F);
}

LIBTUNE_DEVICE_TEST_CASE("tuning runs" * tune::testing::force_autotune(), device) {
  CHECK(multiply_template(device.create_context()).tuning.wgs >= 32);
}
// [testing]

// [compiles]
TEST_CASE("the operation compiles for CUDA, for which no GPU is needed") {
  tune::testing::for_each_compile_target(
      "cuda", [](const tune::context& context) { CHECK_NOTHROW(multiply_template{context}); });
}
// [compiles]
