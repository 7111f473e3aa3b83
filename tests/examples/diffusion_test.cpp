// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/diffusion/diffusion.hpp"

#include <doctest/doctest.h>

#include "examples/diffusion/reference.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace diffusion_test {

using diffusion::diffusion_key;
using diffusion::diffusion_template;
using diffusion::diffusion_tuning;
using diffusion::variant;

/// Compares one step on the device with the host, boundary included.
void check_step(const diffusion_template& made, const tune::context& context, std::size_t rows,
                std::size_t columns) {
  CAPTURE(rows);
  CAPTURE(columns);
  auto queue = context.create_command_queue();
  auto step = made.instantiate(queue, rows, columns);
  step.ensure_all_bound();
  const auto whole = diffusion::make_test_field(rows > columns ? rows : columns);
  tune::host_array<float> u({rows, columns});
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) u(y, x) = whole(y, x);
  }
  auto expected = u;
  expected.fill(-1.0F);
  step.buffer("u").set(queue, u);
  step.buffer("u_new").set(queue, expected);
  step.run();
  diffusion::advance(u, expected);
  CHECK(diffusion::largest_difference(expected, step.buffer("u_new").get<float>(queue)) < 1e-6);
}

TEST_CASE("the spaces are those of the tutorial") {
  CHECK(diffusion::tuning_space(variant::naive).size() == 25);
  CHECK(diffusion::tuning_space(variant::shared).size() == 25);
  CHECK(diffusion::tuning_space(variant::tiled).size() == 225);
}

TEST_CASE("the largest tile needs more local memory than 48 KiB, the smallest does not") {
  const auto space = diffusion::tuning_space(variant::tiled);
  CHECK(space.resources_of({128, 32, 4, 4})->local_memory_bytes == 514 * 130 * 4);
  CHECK(space.resources_of({16, 2, 1, 1})->local_memory_bytes == 18 * 4 * 4);
}

LIBTUNE_DEVICE_TEST_CASE("every kernel makes the step that the host makes", device) {
  const tune::context context = device.create_context();
  for (const variant kernel : {variant::naive, variant::shared, variant::tiled}) {
    CAPTURE(static_cast<int>(kernel));
    const int tile = kernel == variant::tiled ? 2 : 1;
    const diffusion_template made(context, {.kernel = kernel},
                                  diffusion_tuning{16, 4, tile, 2 * tile - 1});
    check_step(made, context, 64, 64);
    check_step(made, context, 3, 3);
    check_step(made, context, 37, 51);
    check_step(made, context, 70, 33);
  }
}

LIBTUNE_DEVICE_TEST_CASE("each kernel's tuning runs" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::tuning_options options{.strategy = "random"};
  options.search.max_count = 3;
  options.measure = tune::measure_settings{.time_limit = std::chrono::milliseconds(1)};
  tune::set_tuning_options(context, options);
  for (const variant kernel : {variant::naive, variant::shared, variant::tiled}) {
    CAPTURE(static_cast<int>(kernel));
    const diffusion_key key{.kernel = kernel, .size = 130};
    const diffusion_template made(context, key);
    CHECK(diffusion::tuning_space(kernel).find(made.tuning()));
    check_step(made, context, 130, 130);
  }
}

TEST_CASE("every variant of the diffusion compiles for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    for (const variant kind : {variant::naive, variant::shared, variant::tiled}) {
      diffusion_key key;
      key.kernel = kind;
      CHECK_NOTHROW(diffusion_template(context, key));
    }
  });
}

}  // namespace diffusion_test
