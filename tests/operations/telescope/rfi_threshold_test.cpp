// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "operations/telescope/rfi/threshold_simple.hpp"
#include "operations/telescope/rfi/threshold_sum.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/numpy_random.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_threshold_test {

using namespace tune::operations::rfi;  // NOLINT: the subject
using rfi_data::count_different;
using tune::host_array;

static_assert(std::is_nothrow_move_assignable_v<threshold_simple>);
static_assert(std::is_nothrow_move_assignable_v<threshold_sum>);

/// The flags in channel-major order.
template <class Template, class Options>
host_array<std::uint8_t> flag(const Template& made, tune::command_queue queue,
                              const host_array<float>& deviations, const host_array<float>& noise,
                              const Options& options, std::size_t padding = 0) {
  const std::size_t channels = deviations.size()[0];
  const std::size_t baselines = deviations.size()[1];
  auto op = made.instantiate(queue, channels, baselines, options);
  if (padding > 0) {
    const tune::shape in = shape_of(made.input_order(), channels, baselines);
    const tune::shape out = shape_of(made.output_order(), channels, baselines);
    op.bind("deviations", {queue.context(), {tune::dtype::float32, in, {in[0], in[1] + padding}}});
    op.bind("flags", {queue.context(), {tune::dtype::uint8, out, {out[0], out[1] + padding}}});
  }
  op.ensure_all_bound();
  op.buffer("deviations").set(queue, in_order(deviations, made.input_order()));
  op.buffer("noise").set(queue, noise);
  op.run();
  auto found = op.buffer("flags").template get<std::uint8_t>(queue);
  return made.output_order() == data_order::channel_major
             ? found
             : in_order(std::move(found), data_order::baseline_major);
}

constexpr data_order orders[] = {data_order::channel_major, data_order::baseline_major};

LIBTUNE_DEVICE_TEST_CASE("thresholds flag as on the host, in both orders", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const rfi_data::injected data = rfi_data::injected_deviations();
  host_array<float> noise({273});
  for (std::size_t b = 0; b < 273; ++b) noise(b) = 50.0F * static_cast<float>(b) / 272.0F;
  const auto simple = threshold_simple_host()(data.deviations, noise);
  const auto sum = threshold_sum_host()(data.deviations, noise);
  for (const data_order order : orders) {
    const threshold_simple_template made(context, {order});
    CHECK(count_different(simple, flag(made, queue, data.deviations, noise, threshold_options{})) ==
          0);
    const threshold_sum_template made_sum(context, {.order = order});
    CHECK(count_different(
              sum, flag(made_sum, queue, data.deviations, noise, threshold_sum_options{})) == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("thresholds of any shape, padding and vector flag as on the host",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const threshold_options options{.n_sigma = 3.0, .flag_value = 5};
  for (const auto& tuning :
       {threshold_simple_tuning{8, 4, 4, 2}, threshold_simple_tuning{16, 2, 16, 1},
        threshold_simple_tuning{32, 1, 8, 4}}) {
    CAPTURE(tuning.vector);
    for (const data_order order : orders) {
      const threshold_simple_template made(context, {order}, tuning);
      for (const auto& [channels, baselines, padding] :
           {std::tuple(1, 1, 0), std::tuple(64, 256, 0), std::tuple(45, 130, 0),
            std::tuple(45, 130, 3)}) {
        const auto deviations = random_deviations(channels, baselines);
        const auto noise = random_noise(baselines);
        CHECK(count_different(threshold_simple_host(options)(deviations, noise),
                              flag(made, queue, deviations, noise, options, padding)) == 0);
      }
    }
  }
}

threshold_sum_options options_of(std::size_t n_windows) {
  return {.n_sigma = 4.0, .n_windows = n_windows, .threshold_falloff = 1.5, .flag_value = 3};
}

LIBTUNE_DEVICE_TEST_CASE("sum thresholds of any shape and number of windows flag as on the host",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const auto agrees = [&](const threshold_sum_key& key, const threshold_sum_tuning& tuning) {
    CAPTURE(key.n_windows);
    CAPTURE(tuning.run);
    const threshold_sum_template made(context, key, tuning);
    const threshold_sum_options options = options_of(key.n_windows);
    for (const auto& size : {std::tuple(1, 1, 0), std::tuple(7, 3, 0), std::tuple(1030, 9, 0),
                             std::tuple(300, 67, 0), std::tuple(500, 35, 3)}) {
      const auto [channels, baselines, padding] = size;
      CAPTURE(std::get<0>(size));
      const auto deviations = random_deviations(channels, baselines);
      const auto noise = random_noise(baselines);
      CHECK(count_different(threshold_sum_host(options)(deviations, noise),
                            flag(made, queue, deviations, noise, options, padding)) == 0);
    }
  };
  agrees({1, data_order::baseline_major}, {2, 1, 32});
  agrees({2, data_order::channel_major}, {8, 2, 8});
  agrees({3, data_order::channel_major}, {4, 4, 16});
  agrees({4, data_order::baseline_major}, {1, 4, 8});
  agrees({4, data_order::channel_major}, {2, 16, 32});
  agrees({5, data_order::channel_major}, {16, 4, 8});
  agrees({6, data_order::baseline_major}, {2, 2, 16});
  agrees({7, data_order::baseline_major}, {4, 2, 32});
  agrees({8, data_order::channel_major}, {4, 8, 32});
}

/// Normal noise of 1 with a part of the samples 6 to 46 larger, and a few that are no plain
/// numbers.
host_array<float> strong_deviations(std::size_t channels, std::size_t baselines, double part) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  numpy_random random(5);
  return numpy_random::matrix<float>(channels, baselines, [&] {
    const double which = random.random_sample();
    const double more = random.random_sample() < part ? random.uniform(6, 46) : 0.0;
    if (which < 0.002) return which < 0.001 ? infinity : -infinity;
    if (which < 0.003) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(random.standard_normal() + more);
  });
}

LIBTUNE_DEVICE_TEST_CASE("any part of the samples may be strong", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  numpy_random random(9);
  for (const data_order order : orders) {
    const threshold_sum_template made(context, {4, order}, threshold_sum_tuning{4, 4, 16});
    for (const double part : {0.0, 0.01, 0.1, 0.5, 1.0}) {
      CAPTURE(part);
      const auto channels = static_cast<std::size_t>(random.uniform(1, 1500));
      const auto baselines = static_cast<std::size_t>(random.uniform(4, 90));
      CAPTURE(channels);
      CAPTURE(baselines);
      const auto deviations = strong_deviations(channels, baselines, part);
      host_array<float> noise({baselines});
      noise.fill(1.0F);
      noise(0) = 0.0F;
      noise(1) = -0.0F;
      noise(2) = std::numeric_limits<float>::infinity();
      noise(3) = std::numeric_limits<float>::quiet_NaN();
      for (const double falloff : {1.2, 0.8}) {
        const threshold_sum_options options{.threshold_falloff = falloff};
        CHECK(count_different(threshold_sum_host(options)(deviations, noise),
                              flag(made, queue, deviations, noise, options)) == 0);
      }
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE(
    "windows that reach over an end of the band flag nothing on devices either", device) {
  const tune::context context = device.create_context();
  host_array<float> deviations({40, 2});
  for (std::size_t c = 0; c < 8; ++c) {
    deviations(c, 0) = c < 7 ? 7.59F : -33.0F;
    deviations(39 - c, 1) = deviations(c, 0);
  }
  host_array<float> noise({2});
  noise.fill(1.0F);
  const auto flags = flag(threshold_sum_template(context, {}), context.create_command_queue(),
                          deviations, noise, threshold_sum_options{});
  CHECK(rfi_data::flags_of(flags) == 0);
}

LIBTUNE_DEVICE_TEST_CASE("thresholds of nothing do nothing", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  for (const auto& [channels, baselines] : {std::pair(0, 5), std::pair(5, 0)}) {
    CHECK_NOTHROW(
        threshold_simple_template(context, {}).instantiate(queue, channels, baselines).run());
    CHECK_NOTHROW(
        threshold_sum_template(context, {}).instantiate(queue, channels, baselines).run());
  }
}

LIBTUNE_DEVICE_TEST_CASE("a device refuses the thresholds that the host refuses", device) {
  const tune::context context = device.create_context();
  const tune::command_queue queue = context.create_command_queue();
  const threshold_simple_template simple(context, {});
  CHECK_THROWS_AS(simple.instantiate(queue, 3, 3, {.n_sigma = 0}), tune::argument_error);
  CHECK_THROWS_AS(simple.instantiate(queue, 3, 3, {.flag_value = 0}), tune::argument_error);
  const threshold_sum_template sum(context, {});
  CHECK_THROWS_AS(sum.instantiate(queue, 3, 3, {.n_sigma = -1}), tune::argument_error);
  CHECK_THROWS_WITH_AS(sum.instantiate(queue, 3, 3, {.n_windows = 3}),
                       doctest::Contains("compiled for 4"), tune::argument_error);
  CHECK_THROWS_AS(threshold_sum_template(context, {.n_windows = 0}), tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("thresholds can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const threshold_simple_key simple{data_order::baseline_major};
  CHECK(tuning_space(simple).find(threshold_simple_template(context, simple).tuning()));
  const threshold_sum_key sum{.order = data_order::channel_major};
  CHECK(tuning_space(sum).find(threshold_sum_template(context, sum).tuning()));
}

TEST_CASE("thresholds compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const data_order order : orders) {
      for (const std::size_t vector : {1, 4, 8, 16}) {
        CHECK_NOTHROW(
            threshold_simple_template(context, {order}, threshold_simple_tuning{32, 4, vector, 2}));
      }
      for (const auto& [n_windows, run] :
           {std::pair(1, 16), std::pair(4, 8), std::pair(4, 16), std::pair(4, 32), std::pair(6, 8),
            std::pair(7, 32), std::pair(8, 32)}) {
        CHECK_NOTHROW(threshold_sum_template(context, {std::size_t(n_windows), order},
                                             threshold_sum_tuning{4, 4, std::size_t(run)}));
      }
    }
  });
}

}  // namespace rfi_threshold_test
