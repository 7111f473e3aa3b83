// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <tuple>
#include <utility>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/pfb_cases.hpp"

namespace pfb_long_test {

using namespace pfb_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("samples of all widths are filtered", device) {
  const tune::context context = device.create_context();
  for (std::size_t bits = 2; bits <= 16; ++bits) {
    const std::size_t adjacent = std::size_t{1} << bits % 4;
    filters_odd_ranges(context, {.taps = 2, .bits = bits}, {.adjacent = adjacent}, 64);
  }
}

LIBTUNE_DEVICE_TEST_CASE("the squares of the widest samples do not overflow", device) {
  const tune::context context = device.create_context();
  for (const std::size_t bits : {8, 10, 12, 13, 16}) {
    const pfb_template made(context, {.taps = 16, .bits = bits},
                            pfb_tuning{.wgs = 32, .adjacent = bits == 10 ? 1U : 4U});
    const pfb_shape shape{.polarisations = 1, .channels = 16, .samples = 32 * 80, .spectra = 64};
    host_array<std::uint8_t> samples({1, tune::operations::packed_row_bytes(shape.samples, bits)});
    const std::vector<std::int16_t> least(
        shape.samples, static_cast<std::int16_t>(-(std::int32_t{1} << (bits - 1))));
    tune::operations::pack_samples(least, bits, {samples.data(), samples.size()[1]});
    filters(context, made, shape, {{0}, 0, 64}, samples);
  }
}

LIBTUNE_DEVICE_TEST_CASE("several taps, channels and transforms are filtered", device) {
  const tune::context context = device.create_context();
  for (const auto& [taps, unzip, adjacent] :
       {std::tuple{1, 1, 2}, {1, 4, 8}, {3, 2, 8}, {5, 1, 4}, {16, 4, 4}, {16, 1, 2}, {8, 2, 4}}) {
    for (const std::size_t bits : {0, 10}) {
      const pfb_key key{.taps = static_cast<std::size_t>(taps),
                        .bits = bits,
                        .unzip = static_cast<std::size_t>(unzip)};
      filters_odd_ranges(context, key, {.adjacent = static_cast<std::size_t>(adjacent)}, 16);
    }
  }
  for (const std::size_t channels : {16, 80, 512, 4096}) {
    filters_odd_ranges(context, {.taps = 4}, {.wgs = 128, .adjacent = 4}, channels);
  }
}

LIBTUNE_DEVICE_TEST_CASE("every tuning of a filter bank gives the host's spectra", device) {
  const tune::context context = device.create_context();
  for (const pfb_key& key : {pfb_key{8, 10, 4}, pfb_key{8, 0, 2}}) {
    const auto space = tune::operations::tuning_space(key);
    for (const pfb_tuning& tuning : space) filters_odd_ranges(context, key, tuning, 80);
    CHECK(space.size() == (key.bits != 0 ? 12 : 8));
  }
}

LIBTUNE_DEVICE_TEST_CASE("pfb can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  for (const pfb_key& key : {pfb_key{4, 10, 4}, pfb_key{4, 0, 4}}) {
    const pfb_template made(context, key);
    CHECK(tune::operations::tuning_space(key).find(made.tuning()));
  }
}

LIBTUNE_DEVICE_TEST_CASE("pfb can be tuned for ranges of real samples" *
                             tune::testing::force_autotune(),
                         device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const tune::range_scale scale = tune::range_scale::logarithmic;
  const tune::operations::ranged_pfb_template made(
      context,
      {.taps = 2, .bits = 10, .channels = {32, 96, scale, 32}, .spectra = {8, 16, scale, 8}});
  const auto space = tune::operations::tuning_space(made.key());
  for (const pfb_tuning& each : made.portfolio().tunings()) CHECK(space.find(each).has_value());
  tune::command_queue queue = context.create_command_queue();
  // The corners of the ranges, sizes between them, and sizes outside.
  for (const auto& [channels, spectra] : {std::pair{32, 8},
                                          {32, 16},
                                          {96, 8},
                                          {96, 16},
                                          {64, 8},
                                          {64, 11},
                                          {272, 3},
                                          {512, 40},
                                          {32, 700}}) {
    CAPTURE(channels);
    CAPTURE(spectra);
    pfb_shape shape{.channels = static_cast<std::size_t>(channels),
                    .spectra = static_cast<std::size_t>(spectra)};
    shape.samples = (shape.spectra + 1) * 2 * shape.channels + 9;
    pfb op = made.instantiate(queue, shape);
    check_filter(queue, op, made.key(), shape, {{9, 0}, 0, shape.spectra});
  }
}

TEST_CASE("filter banks compile for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t bits : {0, 2, 8, 10, 12, 16}) {
      for (const std::size_t adjacent : {1, 2, 4}) {
        if (adjacent == 1 && bits == 0) continue;
        CHECK_NOTHROW(pfb_template(context, {.bits = bits}, pfb_tuning{.adjacent = adjacent}));
        CHECK_NOTHROW(pfb_template(context, {.taps = 8, .bits = bits},
                                   pfb_tuning{.wgs = 128, .adjacent = adjacent, .wide = true}));
      }
    }
  });
}

}  // namespace pfb_long_test
