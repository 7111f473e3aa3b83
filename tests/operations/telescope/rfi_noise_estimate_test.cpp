// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/telescope/rfi/noise_estimate.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_noise_estimate_test {

using namespace tune::operations::rfi;  // NOLINT: the subject
using tune::host_array;

static_assert(std::is_nothrow_move_assignable_v<noise_estimate>);

host_array<float> estimate(const noise_estimate_template& made, tune::command_queue queue,
                           const host_array<float>& deviations, std::size_t padding = 0) {
  const std::size_t channels = deviations.size()[0];
  const std::size_t baselines = deviations.size()[1];
  noise_estimate op = made.instantiate(queue, channels, baselines);
  if (padding > 0) {
    const tune::shape size = shape_of(made.input_order(), channels, baselines);
    op.bind("deviations",
            {queue.context(), {tune::dtype::float32, size, {size[0], size[1] + padding}}});
  }
  op.ensure_all_bound();
  op.buffer("deviations").set(queue, in_order(deviations, made.input_order()));
  op.run();
  return op.buffer("noise").get<float>(queue);
}

int count_unequal(const host_array<float>& expected, const host_array<float>& found) {
  int unequal = 0;
  for (std::size_t b = 0; b < expected.size()[0]; ++b) {
    const bool equal = expected(b) == found(b) || (std::isnan(expected(b)) && std::isnan(found(b)));
    unequal += equal ? 0 : 1;
  }
  return unequal;
}

/// Spectra whose values are hard to search: equal, two far apart, none, one, two, infinite, tiny.
host_array<float> hard_deviations(std::size_t channels) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  host_array<float> made({channels, 12});
  numpy_random random(3);
  for (std::size_t c = 0; c < channels; ++c) {
    const double u = random.random_sample();
    made(c, 0) = 2.5F;
    made(c, 1) = c % 2 == 0 ? 1e-30F : -1e30F;
    made(c, 2) = 0.0F;
    made(c, 3) = c == channels / 2 ? -7.0F : 0.0F;
    made(c, 4) = c == 0 ? 1.0F : c + 1 == channels ? 2.0F : 0.0F;
    made(c, 5) = c % 3 == 0 ? 4.0F : infinity;
    made(c, 6) = std::bit_cast<float>(static_cast<std::uint32_t>(1 + c));  // subnormal
    made(c, 7) = static_cast<float>(std::exp(80 * (u - 0.5)));
    made(c, 8) = static_cast<float>(std::floor(4 * u));
    made(c, 9) = std::numeric_limits<float>::quiet_NaN();
    made(c, 10) = u < 0.4 ? 1e6F : static_cast<float>(u);
    made(c, 11) = -infinity;
  }
  return made;
}

constexpr data_order orders[] = {data_order::channel_major, data_order::baseline_major};

LIBTUNE_DEVICE_TEST_CASE("the noise of normal deviations is that of the host", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  numpy_random random(1);
  const auto deviations =
      numpy_random::matrix<float>(117, 273, [&] { return random.standard_normal(); });
  const auto expected = noise_estimate_mad_host()(deviations);
  CHECK(count_unequal(expected,
                      estimate({context, data_order::channel_major}, queue, deviations)) == 0);
  CHECK(count_unequal(expected, estimate({context, data_order::baseline_major, 10240}, queue,
                                         deviations)) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("the noise of any deviations, shape and padding is that of the host",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const auto agrees = [&](data_order order, const noise_estimate_tuning& tuning) {
    CAPTURE(tuning.wgsx);
    const noise_estimate_template made(context, order, 300, tuning);
    for (const std::size_t channels : {1, 2, 7, 384, 1000}) {
      CAPTURE(channels);
      for (const std::size_t padding : {0, 3}) {
        const auto hard = hard_deviations(channels);
        CHECK(count_unequal(noise_estimate_mad_host()(hard),
                            estimate(made, queue, hard, padding)) == 0);
        const auto easy = random_deviations(channels, 21);
        CHECK(count_unequal(noise_estimate_mad_host()(easy),
                            estimate(made, queue, easy, padding)) == 0);
      }
    }
  };
  agrees(data_order::baseline_major, {64, 1, 64});  // 320 in registers, so some are read again
  agrees(data_order::baseline_major, {160, 1, 128});
  agrees(data_order::baseline_major, {128, 1, 0});
  agrees(data_order::channel_major, {8, 16});
  agrees(data_order::channel_major, {64, 1});
}

LIBTUNE_DEVICE_TEST_CASE("interference and zeros do not mislead the search", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  numpy_random random(7);
  for (const data_order order : orders) {
    const noise_estimate_template made(context, order, 1000,
                                       order == data_order::baseline_major
                                           ? noise_estimate_tuning{32, 1, 64}
                                           : noise_estimate_tuning{16, 8});
    for (const double strong : {0.0, 0.01, 0.1, 0.5, 1.0}) {
      CAPTURE(strong);
      const auto amplitudes = numpy_random::matrix<float>(1000, 9, [&] {
        const float more = random.random_sample() < strong ? 60.0F : 0.0F;
        return std::hypot(static_cast<float>(random.standard_normal()) + more,
                          static_cast<float>(random.standard_normal()));
      });
      const auto deviations = background_median_filter_host(13)(amplitudes);
      CHECK(count_unequal(noise_estimate_mad_host()(deviations),
                          estimate(made, queue, deviations)) == 0);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("without channels there is no noise, without baselines nothing", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  for (const data_order order : orders) {
    const noise_estimate_template made(context, order, 256);
    noise_estimate op = made.instantiate(queue, 0, 2);
    op.run();
    CHECK(std::isnan(op.buffer("noise").get<float>(queue)(1)));
    CHECK_NOTHROW(made.instantiate(queue, 5, 0).run());
  }
}

LIBTUNE_DEVICE_TEST_CASE("noise estimates can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  for (const data_order order : orders) {
    const noise_estimate_template made(context, order, 1000);
    CHECK(tuning_space(noise_estimate_key{order, 1024}).find(made.tuning()).has_value());
  }
}

TEST_CASE("noise estimates compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t wgs : {64, 160, 1024}) {
      CHECK_NOTHROW(noise_estimate_template(context, data_order::baseline_major, 10240,
                                            noise_estimate_tuning{wgs, 1, 64}));
    }
    CHECK_NOTHROW(noise_estimate_template(context, data_order::channel_major, 10240,
                                          noise_estimate_tuning{32, 8}));
  });
}

}  // namespace rfi_noise_estimate_test
