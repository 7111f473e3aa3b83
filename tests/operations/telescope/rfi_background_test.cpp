// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/rfi/background.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/telescope/rfi/samples.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_background_test {

using namespace tune::operations::rfi;  // NOLINT: the subject
using rfi_data::count_different;
using tune::host_array;

static_assert(std::is_nothrow_move_assignable_v<background_median_filter>);

template <class Sample>
host_array<float> filter(const background_median_filter_template& made, tune::command_queue queue,
                         const host_array<Sample>& samples, flags_pointer flags,
                         std::size_t padding) {
  const std::size_t channels = samples.size()[0];
  const std::size_t baselines = samples.size()[1];
  background_median_filter op = made.instantiate(queue, channels, baselines);
  if (padding > 0) {
    const auto type = tune::element_type::of<Sample>();
    op.bind("vis",
            {queue.context(), {type, {channels, baselines}, {channels, baselines + padding}}});
    const tune::shape size = shape_of(made.key().order, channels, baselines);
    op.bind("deviations",
            {queue.context(), {tune::dtype::float32, size, {size[0] + 1, size[1] + padding}}});
  }
  op.ensure_all_bound();
  op.buffer("vis").set(queue, samples);
  if (flags != nullptr) op.buffer("flags").set(queue, *flags);
  op.run();
  return op.buffer("deviations").template get<float>(queue);
}

void agrees(const tune::context& context, const background_key& key,
            const background_tuning& tuning) {
  CAPTURE(key.width);
  CAPTURE(tuning.windows);
  const background_median_filter_template made(context, key, tuning);
  tune::command_queue queue = context.create_command_queue();
  for (const auto& size : {std::tuple(1, 1, 0), std::tuple(200, 37, 0), std::tuple(67, 130, 3)}) {
    const auto [channels, baselines, padding] = size;
    CAPTURE(std::get<0>(size));
    const auto samples = random_amplitudes(channels, baselines);
    const auto rows = static_cast<std::size_t>(channels);
    const auto columns = static_cast<std::size_t>(baselines);
    const auto flags = sparse_flags(
        key.flag_use == flag_use::channel_flags ? tune::shape{rows} : tune::shape{rows, columns});
    const flags_pointer used = key.flag_use == flag_use::no_flags ? nullptr : &flags;
    const auto expected =
        in_order(background_median_filter_host(key.width)(samples, used), key.order);
    CHECK(count_different(expected, filter(made, queue, samples, used, padding)) == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("backgrounds of amplitudes are those of the host, bit by bit", device) {
  const tune::context context = device.create_context();
  const auto key = [](std::size_t width, flag_use flags, data_order order) {
    return background_key{width, true, flags, order};
  };
  agrees(context, key(13, flag_use::full_flags, data_order::channel_major), {8, 32, false, 64});
  agrees(context, key(13, flag_use::channel_flags, data_order::baseline_major), {4, 64, true, 16});
  agrees(context, key(5, flag_use::no_flags, data_order::baseline_major), {2, 128, false, 1024});
  agrees(context, key(3, flag_use::full_flags, data_order::channel_major), {1, 32, false, 256});
  agrees(context, key(1, flag_use::no_flags, data_order::channel_major), {4, 32, false, 256});
  agrees(context, key(3, flag_use::no_flags, data_order::baseline_major), {16, 32, true, 256});
  agrees(context, key(33, flag_use::full_flags, data_order::channel_major), {2, 32, false, 256});
}

LIBTUNE_DEVICE_TEST_CASE("backgrounds of visibilities are those of the host", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  numpy_random random(1);
  const auto vis = random.complex_normal(417, 313);
  host_array<std::uint8_t> full({417, 313});
  host_array<std::uint8_t> channel({417});
  for (std::size_t c = 0; c < 417; ++c) {
    for (std::size_t b = 0; b < 313; ++b) full(c, b) = random.random_sample() < 0.1 ? 1 : 0;
    channel(c) = random.random_sample() < 0.1 ? 1 : 0;
  }
  for (std::size_t c = 100; c < 120; ++c) {
    for (std::size_t b = 20; b < 40; ++b) full(c, b) = 4;
  }
  for (const flag_use use : {flag_use::no_flags, flag_use::channel_flags, flag_use::full_flags}) {
    const flags_pointer flags = use == flag_use::no_flags        ? nullptr
                                : use == flag_use::channel_flags ? &channel
                                                                 : &full;
    const background_median_filter_template made(context, {.width = 5, .flag_use = use});
    const auto expected = background_median_filter_host(5)(vis, flags);
    const auto found = filter(made, queue, vis, flags, 0);
    int wrong = 0;
    for (std::size_t c = 0; c < 417; ++c) {
      for (std::size_t b = 0; b < 313; ++b) {
        const float distance = std::fabs(expected(c, b) - found(c, b));
        wrong += !(distance <= 1e-6F + 1e-7F * std::fabs(expected(c, b))) ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
  }
}

LIBTUNE_DEVICE_TEST_CASE("a background of nothing is nothing", device) {
  const tune::context context = device.create_context();
  const background_median_filter_template made(context, {.width = 3});
  CHECK_NOTHROW(made.instantiate(context.create_command_queue(), 0, 5).run());
  CHECK_NOTHROW(made.instantiate(context.create_command_queue(), 5, 0).run());
}

LIBTUNE_DEVICE_TEST_CASE("windows without a middle, or too wide for registers, are errors",
                         device) {
  const tune::context context = device.create_context();
  for (const std::size_t wrong : {0, 4, 257}) {
    CHECK_THROWS_AS(background_median_filter_template(context, {.width = wrong}),
                    tune::argument_error);
  }
}

LIBTUNE_DEVICE_TEST_CASE("a background can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const background_key key{.flag_use = flag_use::full_flags, .order = data_order::baseline_major};
  const background_median_filter_template made(context, key);
  CHECK(tuning_space(key).find(made.tuning()).has_value());
}

TEST_CASE("backgrounds compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t windows : {1, 8, 16}) {
      CAPTURE(windows);
      const background_tuning tuning{.windows = windows};
      CHECK_NOTHROW(background_median_filter_template(context, {}, tuning));
      CHECK_NOTHROW(background_median_filter_template(
          context, {.order = data_order::baseline_major},
          background_tuning{.windows = windows, .wgs = 64, .tiled = true}));
      CHECK_NOTHROW(background_median_filter_template(
          context, {13, true, flag_use::full_flags, data_order::baseline_major}, tuning));
    }
    CHECK_NOTHROW(background_median_filter_template(
        context, {33, false, flag_use::channel_flags, data_order::baseline_major}));
  });
}

}  // namespace rfi_background_test
