// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <doctest/doctest.h>

#include "examples/sequence/smoothing.hpp"
#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"

namespace sequence_test {

using tune::host_array;
using tune::shape;

host_array<float> make_samples(const shape& size) {
  host_array<float> samples(size);
  for (std::size_t row = 0; row < size[0]; ++row) {
    for (std::size_t x = 0; x < size[1]; ++x) {
      samples(row, x) = static_cast<float>((5 * row + 3 * x) % 17);
    }
  }
  return samples;
}

void check_pipeline(const tune::context& context, const smoothing::scale_template& scale,
                    const smoothing::window_template& window, const shape& size, bool aliasing) {
  CAPTURE(size[1]);
  CAPTURE(aliasing);
  auto queue = context.create_command_queue();
  auto pipeline = smoothing::make_pipeline(queue, scale, window, size, aliasing);
  pipeline.ensure_all_bound();
  const auto samples = make_samples(pipeline.buffer("samples").size());
  pipeline.buffer("samples").set(queue, samples);
  pipeline.run();
  const auto expected = smoothing::smooth_on_host(samples, window.window());
  const auto got = pipeline.buffer("sums").get<float>(queue);
  REQUIRE(got.size() == size);
  for (std::size_t row = 0; row < size[0]; ++row) {
    for (std::size_t x = 0; x < size[1]; ++x) {
      REQUIRE(got(row, x) == doctest::Approx(expected(row, x)).epsilon(1e-5));
    }
  }
}

TEST_CASE("the host smooths a constant to window times twice the constant") {
  host_array<float> samples({2, 9});
  samples.fill(3.0F);
  const auto sums = smoothing::smooth_on_host(samples, 4);
  REQUIRE(sums.size() == shape{2, 3});
  CHECK(sums(1, 2) == 24.0F);
}

LIBTUNE_DEVICE_TEST_CASE("the pipeline computes what the host does, with aliasing or not", device) {
  const tune::context context = device.create_context();
  const smoothing::scale_template scale(context);
  const smoothing::window_template window(context, {.window = 5}, smoothing::row_tuning{64});
  for (const bool aliasing : {false, true}) {
    check_pipeline(context, scale, window, {1, 1}, aliasing);
    check_pipeline(context, scale, window, {3, 100}, aliasing);
    check_pipeline(context, scale, window, {7, 1000}, aliasing);
  }
}

LIBTUNE_DEVICE_TEST_CASE("aliasing saves the smaller of two arrays", device) {
  const tune::context context = device.create_context();
  const auto queue = context.create_command_queue();
  const smoothing::scale_template scale(context);
  const smoothing::window_template window(context);
  const auto shared = smoothing::make_pipeline(queue, scale, window, {7, 1000}, true);
  const auto apart = smoothing::make_pipeline(queue, scale, window, {7, 1000}, false);
  CHECK(apart.required_bytes() - shared.required_bytes() ==
        apart.any_slot("normalised").required_bytes());
}

LIBTUNE_DEVICE_TEST_CASE("both templates tune" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  check_pipeline(context, smoothing::scale_template(context), smoothing::window_template(context),
                 {3, 100}, true);
}

TEST_CASE("the pipeline's templates compile for CUDA") {
  tune::testing::for_each_compile_target("cuda", [](const tune::context& context) {
    CHECK_NOTHROW(smoothing::scale_template{context});
    CHECK_NOTHROW(smoothing::window_template{context});
  });
}

}  // namespace sequence_test
