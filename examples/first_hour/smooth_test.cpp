// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The test of docs/first-hour.md.
// [test]
#include "smooth.hpp"

#include <doctest/doctest.h>
#include <libtune/testing/devices.hpp>
#include <libtune/testing/run_tests.hpp>

LIBTUNE_DEVICE_TEST_CASE("means are those of the host", device) {
  const tune::context context = device.create_context();
  auto queue = context.create_command_queue();
  auto operation = smooth_template(context, {.width = 5}).instantiate(queue, 3, 100);
  operation.ensure_all_bound();
  tune::host_array<float> samples({3, 104});
  for (std::size_t x = 0; x < 104; ++x) samples(1, x) = static_cast<float>(x * x % 17);
  operation.buffer("src").set(queue, samples);
  operation.run();
  const auto expected = smooth_on_host(samples, 5);
  const auto means = operation.buffer("dest").get<float>(queue);
  for (std::size_t x = 0; x < 100; ++x) CHECK(means(1, x) == doctest::Approx(expected(1, x)));
}
// [test]

TEST_CASE("the kernel compiles for CUDA, for which no GPU is needed") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(smooth_template{context});
    CHECK_NOTHROW(smooth_template(context, {}, smooth_tuning{.unroll = 8}));
  });
}
