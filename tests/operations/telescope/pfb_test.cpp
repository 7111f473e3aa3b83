// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/pfb/pfb.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <type_traits>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "tests/operations/telescope/pfb_cases.hpp"

namespace pfb_test {

using namespace pfb_cases;  // NOLINT: helpers of this test

static_assert(std::is_nothrow_move_assignable_v<pfb>);

TEST_CASE("weights of a filter bank are those of the formula, with a sum of squares of 1") {
  const auto weights = tune::operations::pfb_weights(4, 64);
  REQUIRE(weights.size() == 256);
  double energy = 0;
  for (const float weight : weights) energy += static_cast<double>(weight) * weight;
  CHECK(energy == doctest::Approx(1).epsilon(1e-6));
  CHECK(weights[0] == 0);
  for (std::size_t i = 0; i < 256; ++i) CHECK(weights[i] == doctest::Approx(weights[255 - i]));
  // Ratios to the largest, by hand: sin^2(pi 96 / 255) sinc(96.5 / 64 - 2) there, and so on.
  const auto shape = [](double i) {
    const double pi = std::acos(-1.0);
    const double x = pi * ((i + 0.5) / 64 - 2);
    return std::pow(std::sin(pi * i / 255), 2) * std::sin(x) / x;
  };
  CHECK(weights[96] / weights[127] == doctest::Approx(shape(96) / shape(127)).epsilon(1e-5));
  CHECK(weights[20] / weights[127] == doctest::Approx(shape(20) / shape(127)).epsilon(1e-5));
  const auto plain =
      tune::operations::pfb_weights(2, 8, 0, tune::operations::pfb_window::rectangular);
  for (const float weight : plain) CHECK(weight == 0.25F);
  CHECK_THROWS_WITH_AS(tune::operations::pfb_weights(0, 8), doctest::Contains("0 x 8"),
                       tune::argument_error);
}

LIBTUNE_DEVICE_TEST_CASE("a filter bank of real samples is that of the host", device) {
  const tune::context context = device.create_context();
  filters_odd_ranges(context, {.taps = 4}, {.wgs = 64, .adjacent = 4}, 48);
}

LIBTUNE_DEVICE_TEST_CASE("both parts of a number can be filtered by items of their own", device) {
  const tune::context context = device.create_context();
  filters_odd_ranges(context, {.taps = 4}, {.wgs = 64, .adjacent = 1, .wide = true}, 48);
}

LIBTUNE_DEVICE_TEST_CASE("a filter bank of complex samples is that of the host", device) {
  const tune::context context = device.create_context();
  filters_odd_ranges(context, {.taps = 4, .bits = 0}, {.wgs = 64, .adjacent = 4}, 48);
}

LIBTUNE_DEVICE_TEST_CASE("any number of polarisations is filtered, each from its own offset",
                         device) {
  const tune::context context = device.create_context();
  const pfb_template made(context, {.taps = 2, .bits = 16, .unzip = 1}, pfb_tuning{.wgs = 32});
  filters(context, made, {.polarisations = 6, .channels = 16, .samples = 200, .spectra = 6},
          {{0, 1, 2, 3, 40, 5}, 1, 4});
}

LIBTUNE_DEVICE_TEST_CASE("a range that does not fit is an error, and one without spectra is not",
                         device) {
  const tune::context context = device.create_context();
  const pfb_template made(context, {.taps = 2, .bits = 16, .unzip = 1}, pfb_tuning{.wgs = 32});
  tune::command_queue queue = context.create_command_queue();
  pfb op = made.instantiate(queue, {.channels = 16, .samples = 200, .spectra = 8});
  CHECK(op.spectra() == 5);
  CHECK_NOTHROW(op.set_range({8, 7}, 3, 5));
  CHECK_THROWS_WITH_AS(op.set_range({0, 9}, 3, 5), doctest::Contains("from sample 9"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(op.set_range({0, 0}, 4, 5), doctest::Contains("room for 8"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(op.set_range({0}, 0, 5), doctest::Contains("2 polarisations"),
                       tune::argument_error);
  CHECK(op.spectra() == 5);
  op.set_range({1000, 0}, 8, 0);
  CHECK_NOTHROW(op.run());
  CHECK_THROWS_WITH_AS(made.instantiate(queue, {.channels = 24, .samples = 200, .spectra = 8}),
                       doctest::Contains("multiple of 16"), tune::argument_error);
  CHECK_THROWS_WITH_AS(pfb_template(context, {.bits = 17}), doctest::Contains("17 bits"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(pfb_template(context, {.unzip = 3}), doctest::Contains("3 transforms"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(pfb_template(context, {}, pfb_tuning{.adjacent = 3}),
                       doctest::Contains("adjacent is 2"), tune::argument_error);
  CHECK_THROWS_WITH_AS(pfb_template(context, {.bits = 0}, pfb_tuning{.adjacent = 1}),
                       doctest::Contains("samples of 0 bits"), tune::argument_error);
}

TEST_CASE("the space of pfb has the test default") {
  for (const std::size_t taps : {1, 3, 4, 8, 16, 32}) {
    for (const std::size_t bits : {0, 2, 10, 16}) {
      const auto space = tune::operations::tuning_space(pfb_key{taps, bits, 4});
      CHECK(space.find(pfb_tuning{}).has_value());
      CHECK(space.size() >= 4);
      for (const pfb_tuning& each : space) CHECK((each.adjacent != 1 || bits != 0));
    }
  }
}

}  // namespace pfb_test
