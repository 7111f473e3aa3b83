// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/ddc/ddc_design.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <doctest/doctest.h>
#include <limits>
#include <numbers>
#include <vector>

namespace ddc_design_test {

using tune::operations::ddc_filter;
using tune::operations::ddc_mode;
using tune::operations::equiripple_filter;
using tune::operations::filter_band;
using tune::operations::mixer_frequency;
using tune::operations::mixer_phase;
using tune::operations::mixer_step;

/// The amplitude of a symmetric filter, with the sign that its phase leaves.
double amplitude(const std::vector<double>& filter, double f) {
  double sum = 0;
  for (std::size_t k = 0; k < filter.size(); ++k) {
    const double place = static_cast<double>(k) - static_cast<double>(filter.size() - 1) / 2;
    sum += filter[k] * std::cos(2 * std::numbers::pi * f * place);
  }
  return sum;
}

struct ripple {
  double largest = 0;
  std::size_t alternations = 0;  // of errors that nearly are the largest
};

ripple measure_ripple(const std::vector<double>& filter, const std::vector<filter_band>& bands) {
  const double spacing = 0.005 / static_cast<double>(filter.size());
  std::vector<double> errors;
  ripple found;
  for (const filter_band& band : bands) {
    for (double f = band.from; f <= band.to; f += spacing) {
      errors.push_back(band.weight * (band.gain - amplitude(filter, f)));
    }
    errors.push_back(band.weight * (band.gain - amplitude(filter, band.to)));
  }
  for (const double error : errors) found.largest = std::max(found.largest, std::abs(error));
  int before = 0;
  for (const double error : errors) {
    if (std::abs(error) < 0.99 * found.largest) continue;
    const int sign = error < 0 ? -1 : 1;
    if (sign != before) ++found.alternations;
    before = sign;
  }
  return found;
}

// By the alternation theorem no other filter of the length is better.
TEST_CASE("an equiripple filter's errors alternate as often as those of the best one") {
  const std::vector<filter_band> bands{{0, 0.1, 1, 1}, {0.15, 0.3, 0, 10}, {0.35, 0.5, 0, 3}};
  for (const std::size_t taps : {3, 4, 9, 20, 33, 64}) {
    CAPTURE(taps);
    const std::vector<double> filter = equiripple_filter(taps, bands);
    REQUIRE(filter.size() == taps);
    for (std::size_t k = 0; k < taps; ++k) {
      CHECK(filter[k] == doctest::Approx(filter[taps - 1 - k]));
    }
    CHECK(measure_ripple(filter, bands).alternations >= (taps + 1) / 2 + 1);
  }
}

TEST_CASE("filters of down-converters pass what they keep, and stop what would fold into it") {
  const std::vector<double> discard = ddc_filter(128, 8);
  const double root = std::sqrt(8.0);
  for (double f = 0; f <= 0.25; f += 0.01) {
    CHECK(amplitude(discard, f / 8) / root == doctest::Approx(1).epsilon(0.001));
  }
  double largest = 0;
  for (int k = 0; k < 4; ++k) {
    for (double f = k + 0.75; f <= std::min(k + 1.25, 4.0); f += 0.01) {
      largest = std::max(largest, std::abs(amplitude(discard, f / 8)) / root);
    }
  }
  CHECK(largest < 1e-5);  // -100 dB

  const std::vector<double> keep = ddc_filter(256, 16, ddc_mode::keep, 0.8);
  for (double f = 0; f <= 0.4; f += 0.01) {
    CHECK(amplitude(keep, f / 16) / 4 == doctest::Approx(1).epsilon(0.01));
  }
  for (double f = 0.6; f <= 8; f += 0.01) CHECK(std::abs(amplitude(keep, f / 16)) / 4 < 0.01);
}

TEST_CASE("long filters are designed, too") {
  const std::vector<double> filter = ddc_filter(1024, 64);
  const double root = 8;
  for (double f = 0; f <= 0.25; f += 0.05) {
    CHECK(amplitude(filter, f / 64) / root == doctest::Approx(1).epsilon(0.001));
  }
  for (double f = 0.75; f <= 1.25; f += 0.01) {
    CHECK(std::abs(amplitude(filter, f / 64)) / root < 1e-5);
  }
}

TEST_CASE("filters that cannot be are errors") {
  const std::vector<filter_band> touching{{0, 0.1, 1, 1}, {0.1, 0.5, 0, 1}};
  CHECK_THROWS_WITH_AS(equiripple_filter(20, touching), doctest::Contains("0.1 to 0.5"),
                       tune::argument_error);
  CHECK_THROWS_AS(equiripple_filter(2, touching), tune::argument_error);
  CHECK_THROWS_AS(equiripple_filter(20, {}), tune::argument_error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const filter_band& odd : {filter_band{nan, 0.1, 1, 1}, filter_band{0, nan, 1, 1},
                                 filter_band{0, 0.1, nan, 1}, filter_band{0, 0.1, infinity, 1},
                                 filter_band{0, 0.1, 1, nan}, filter_band{0, 0.1, 1, infinity}}) {
    CHECK_THROWS_WITH_AS(equiripple_filter(20, {{odd}}), doctest::Contains("cannot take the band"),
                         tune::argument_error);
  }
  CHECK_THROWS_WITH_AS(ddc_filter(20, 1), doctest::Contains("by 2 at least"), tune::argument_error);
  CHECK_THROWS_AS(ddc_filter(20, 2, ddc_mode::keep, 1), tune::argument_error);
}

TEST_CASE("bands that are too narrow for so many taps are errors, and no filter of NaN") {
  const std::vector<filter_band> apart{{0, 0.001, 1, 1}, {0.499, 0.5, 0, 1}};
  CHECK_THROWS_WITH_AS(equiripple_filter(101, apart), doctest::Contains("so narrow"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(equiripple_filter(64, {{filter_band{0, 0.001, 1, 1}}}),
                       doctest::Contains("so narrow"), tune::argument_error);
  // An even length is 0 at half the rate.
  CHECK_THROWS_WITH_AS(equiripple_filter(32, {{filter_band{0.49999999, 0.5, 1, 1}}}),
                       doctest::Contains("odd number of taps"), tune::argument_error);
  for (const double tap : equiripple_filter(5, apart)) CHECK(std::isfinite(tap));
}

TEST_CASE("the phase of a mixer is exact, however far the sample is") {
  constexpr std::uint64_t quarter = std::uint64_t{1} << 62;
  CHECK(mixer_phase({1, 4}, 1) == quarter);
  CHECK(mixer_phase({1, 4}, 4) == 0);
  CHECK(mixer_phase({-1, 4}, 1) == 3 * quarter);
  CHECK(mixer_phase({5, 4}, 1) == quarter);
  CHECK(mixer_phase({1, 3}, 1) == 0x5555555555555555U);
  CHECK(mixer_phase({2, 3}, 1) == 0xAAAAAAAAAAAAAAABU);
  // 2^63 = 2 modulo 3.
  CHECK(mixer_phase({1, 3}, std::uint64_t{1} << 63) == 0xAAAAAAAAAAAAAAABU);
  CHECK(mixer_step({-3, 8}, 2) == quarter);
  // Just below a whole cycle, which it is rounded to.
  CHECK(mixer_phase({9223372036854775807, 9223372036854775808U}, 2) == 0xFFFFFFFFFFFFFFFCU);
  CHECK_THROWS_WITH_AS(mixer_phase({1, 0}, 1), doctest::Contains("1 / 0"), tune::argument_error);
}

TEST_CASE("taps turn with the mixer") {
  const std::vector<double> filter{1, 2, 3};
  const auto taps = tune::operations::ddc_taps(filter, {1, 4});
  CHECK(taps[0] == std::complex<float>(1, 0));
  CHECK(std::abs(taps[1] - std::complex<float>(0, 2)) < 1e-6F);
  CHECK(std::abs(taps[2] - std::complex<float>(-3, 0)) < 1e-6F);
}

}  // namespace ddc_design_test
