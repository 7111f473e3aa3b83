// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "tests/operations/short_tuning.hpp"
#include "tests/operations/telescope/beamform_cases.hpp"

namespace beamform_long_test {

using namespace beamform_cases;  // NOLINT: helpers of this test

LIBTUNE_DEVICE_TEST_CASE("every number of beams is formed as by the host", device) {
  const tune::context context = device.create_context();
  for (const std::size_t beams : {1, 2, 4, 8, 16}) {
    for (const bool has_dither : {true, false}) {
      const beamform_key key{beams, has_dither};
      const beamform_template made(context, key);
      check(made, key, context,
            {.batches = 2, .antennas = 5, .channels = 3, .spectra = 16, .beams = beams});
      check(made, key, context,
            {.batches = 1, .antennas = 33, .channels = 4, .spectra = 100, .beams = 2 * beams + 1},
            77, 1);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("every configuration of beamform gives the host's values", device) {
  const tune::context context = device.create_context();
  const beamform_key key{.beams = 4};
  for (const beamform_tuning& tuning : tuning_space(key)) {
    CAPTURE(tune::to_string(tune::to_values(tuning)));
    const beamform_template made(context, key, tuning);
    check(made, key, context,
          {.batches = 3, .antennas = 37, .channels = 3, .spectra = 52, .beams = 5}, 99);
  }
  if (!has_beamform_tensor_units(device)) return;
  for (const std::size_t beams : {8, 16}) {
    for (const beamform_tuning& tuning : tuning_space({.beams = beams}, true)) {
      CAPTURE(tune::to_string(tune::to_values(tuning)));
      const beamform_template made(context, {.beams = beams}, tuning);
      // One pass of both polarisations, then one of the first.
      check(made, {.beams = beams}, context,
            {.batches = 3, .antennas = 37, .channels = 3, .spectra = 52, .beams = beams + 2}, 99);
      beamform_input input = random_input(
          {.batches = 1, .antennas = 130, .channels = 2, .spectra = 260, .beams = beams});
      input.polarisations.assign(beams, 1);
      check(made, {.beams = beams}, context,
            {.batches = 1, .antennas = 130, .channels = 2, .spectra = 260, .beams = beams}, input);
    }
  }
}

LIBTUNE_DEVICE_TEST_CASE("beamform can be tuned" * tune::testing::force_autotune(), device) {
  const tune::context context = device.create_context();
  tune::testing::tune_shortly(context);
  const beamform_key key{.beams = 2};
  CHECK(tuning_space(key).find(beamform_template(context, key).tuning()));
}

TEST_CASE("beamform compiles for tensor units") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    CHECK(has_beamform_tensor_units(context.device()));
    for (const std::size_t beams : {8, 16}) {
      for (const beamform_tuning& tuning : tuning_space({.beams = beams}, true)) {
        CAPTURE(tune::to_string(tune::to_values(tuning)));
        if (tuning.wgs == 128) CHECK_NOTHROW(beamform_template(context, {.beams = beams}, tuning));
      }
    }
  });
}

TEST_CASE("beamform compiles for CUDA") {
  tune::testing::for_each_compile_target("cuda sm_90", [](const tune::context& context) {
    for (const std::size_t beams : {1, 2, 4, 8, 16}) {
      CHECK_NOTHROW(beamform_template(context, {beams, true}));
      CHECK_NOTHROW(
          beamform_template(context, {beams, false}, beamform_tuning{false, 256, 1, 128, 8}));
    }
    CHECK_NOTHROW(beamform_template(context, {8, true}, beamform_tuning{false, 64, 4, 16, 2}));
  });
}

}  // namespace beamform_long_test
