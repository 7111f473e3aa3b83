// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <tuple>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/ddc_cases.hpp"

namespace ddc_long_test {

using namespace ddc_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("samples of all widths are down-converted", device) {
  const tune::context context = device.create_context();
  for (std::size_t bits = 2; bits <= 16; ++bits) {
    converts(context,
             ddc_template(context, {.taps = 24, .subsampling = 3, .bits = bits},
                          ddc_tuning{.outputs = bits % 2 == 0 ? 4U : 16U}),
             600, 2);
  }
}

LIBTUNE_DEVICE_TEST_CASE("filters of all lengths are down-converted", device) {
  const tune::context context = device.create_context();
  for (const auto& [taps, subsampling] :
       {std::tuple{1, 1}, {5, 1}, {3, 7}, {33, 2}, {129, 8}, {256, 16}, {1000, 127}, {2048, 128}}) {
    const ddc_key key{static_cast<std::size_t>(taps), static_cast<std::size_t>(subsampling), 12};
    converts(context, ddc_template(context, key, ddc_tuning{}), 530);
  }
}

LIBTUNE_DEVICE_TEST_CASE("every tuning of a down-converter gives the host's outputs", device) {
  const tune::context context = device.create_context();
  const bool has_tensor_units = tune::operations::has_ddc_tensor_units(device);
  for (const ddc_key& key : {ddc_key{128, 8, 10}, ddc_key{64, 4, 8}, ddc_key{50, 5, 12}}) {
    for (const ddc_tuning& tuning : tune::operations::tuning_space(key, has_tensor_units)) {
      converts(context, ddc_template(context, key, tuning), 4500, 1);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("ddc can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const ddc_key key{.taps = 64, .subsampling = 4};
  const ddc_template made(context, key);
  const bool has_tensor_units = tune::operations::has_ddc_tensor_units(device);
  CHECK(tune::operations::tuning_space(key, has_tensor_units).find(made.tuning()));
}

TEST_CASE("down-converters compile for CUDA, in tensor units, too") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t bits : {2, 8, 10, 12}) {
      for (const ddc_tuning& tuning : tune::operations::tuning_space({.bits = bits}, true)) {
        if (bits != 10 && tuning.wgs != 128) continue;
        CHECK_NOTHROW(ddc_template(context, {.bits = bits}, tuning));
      }
    }
    CHECK_NOTHROW(ddc_template(context, {1016, 127, 10}, ddc_tuning{true, 128, 1}));
    CHECK_NOTHROW(ddc_template(context, {128, 8, 16}, ddc_tuning{}));
  });
}

}  // namespace ddc_long_test
