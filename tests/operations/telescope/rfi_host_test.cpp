// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers are those of katsdpsigproc's host classes (reference: acceptance table and golden
// numbers), and no device is needed.
#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "tests/operations/telescope/numpy_random.hpp"
#include "tests/operations/telescope/rfi_data.hpp"

namespace rfi_host_test {

using namespace tune::operations::rfi;  // NOLINT: the subject
using namespace rfi_data;               // NOLINT: its inputs
using tune::host_array;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
host_array<T> column(std::initializer_list<T> values) {
  host_array<T> made({values.size(), 1});
  std::size_t c = 0;
  for (const T& value : values) made(c++, 0) = value;
  return made;
}

void is_column(const host_array<float>& found, std::initializer_list<float> expected) {
  REQUIRE(found.size() == tune::shape{expected.size(), 1});
  std::size_t c = 0;
  for (const float value : expected) {
    CAPTURE(c);
    CHECK(found(c++, 0) == value);
  }
}

void are_flags(const host_array<std::uint8_t>& found, std::initializer_list<int> expected) {
  REQUIRE(found.size() == tune::shape{expected.size(), 1});
  std::size_t c = 0;
  for (const int value : expected) {
    CAPTURE(c);
    CHECK(int{found(c++, 0)} == value);
  }
}

TEST_CASE("the background is the median of a window, cut at the ends of the band") {
  using complex = std::complex<float>;
  const auto vis = column<complex>({1.25F, {0, 1.5F}, 1, 2, -1.75F, 2});
  const background_median_filter_host filter(3);
  is_column(filter(vis), {-.125F, .25F, -.5F, .25F, -.25F, .125F});
  const auto flags = column<std::uint8_t>({0, 0, 1, 0, 0, 4});
  is_column(filter(vis, &flags), {-.125F, .125F, 0, .125F, -.125F, 0});
}

TEST_CASE("samples that are NaN or negative are missing from the background") {
  const background_median_filter_host filter(3);
  is_column(filter(column<float>({1, nan, 3, 8, 4})), {0, 0, -2.5F, 4, -2});
  is_column(filter(column<float>({1, -5, 3, 8, 4})), {0, 0, -2.5F, 4, -2});
  is_column(filter(column<float>({nan, nan, nan})), {0, 0, 0});
}

TEST_CASE("infinite amplitudes deviate infinitely, unless the background is infinite too") {
  const background_median_filter_host filter(3);
  is_column(filter(column<float>({1, infinity, 2, 2})), {-infinity, infinity, 0, 0});
  is_column(filter(column<float>({infinity, infinity, infinity})), {0, 0, 0});
}

TEST_CASE("a window of an even number of channels is an error") {
  CHECK_THROWS_WITH_AS(background_median_filter_host(4), doctest::Contains("odd"),
                       tune::argument_error);
  CHECK_THROWS_AS(background_median_filter_host(0), tune::argument_error);
}

TEST_CASE("flags of another shape than the samples are an error") {
  const background_median_filter_host filter(3);
  const host_array<float> amplitudes({4, 2});
  for (const tune::shape& wrong : {tune::shape{3}, tune::shape{2}, tune::shape{2, 4}}) {
    const host_array<std::uint8_t> flags(wrong);
    CHECK_THROWS_AS(filter(amplitudes, &flags), tune::argument_error);
  }
}

TEST_CASE("the noise is that of the deviations that are not zero") {
  host_array<float> deviations({4, 3});
  const std::array<std::array<float, 3>, 4> rows{
      {{0, 3, 2.4F}, {1.5F, -1.4F, 4.6F}, {0, 1.1F, 3.3F}, {5, 0, -3.1F}}};
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t b = 0; b < 3; ++b) deviations(c, b) = rows[c][b];
  }
  const auto noise = noise_estimate_mad_host()(deviations);
  CHECK(noise(0) == doctest::Approx(3.25 * 1.4826).epsilon(1e-7));
  CHECK(noise(1) == doctest::Approx(1.4 * 1.4826).epsilon(1e-7));
  CHECK(noise(2) == doctest::Approx(3.2 * 1.4826).epsilon(1e-7));
}

TEST_CASE("baselines without any deviation have no noise") {
  CHECK(std::isnan(noise_estimate_mad_host()(column<float>({0, 0, nan}))(0)));
  CHECK(noise_estimate_mad_host()(column<float>({nan, -2, 0}))(0) == 1.4826F * 2);
  CHECK(noise_estimate_mad_host()(column<float>({infinity, infinity, 1}))(0) == infinity);
}

TEST_CASE("thresholds flag what was added to the noise, and nothing else") {
  const injected data = injected_deviations();
  host_array<float> noise({data.deviations.size()[1]});
  noise.fill(10.0F);
  CHECK(count_different(threshold_simple_host()(data.deviations, noise), data.flags) == 0);
  CHECK(count_different(threshold_sum_host()(data.deviations, noise), data.flags) == 0);
  CHECK(count_different(threshold_simple_host({.flag_value = 4})(data.deviations, noise),
                        multiplied(data.flags, 4)) == 0);
}

TEST_CASE("golden: the sum threshold flags runs below the threshold of single samples") {
  numpy_random random(1);
  auto deviations = numpy_random::matrix<float>(128, 3, [&] {
    return static_cast<float>(4 * static_cast<float>(random.random_sample() - 0.5));
  });
  const auto add = [&](std::size_t first, std::size_t last, std::size_t baseline, float more) {
    for (std::size_t c = first; c <= last; ++c) deviations(c, baseline) += more;
  };
  add(30, 37, 0, 9.2F);
  add(60, 63, 1, 9.5F);
  add(90, 91, 1, 10.5F);
  add(5, 5, 2, 11.5F);
  host_array<float> noise({3});
  noise.fill(1.0F);
  const auto flags = threshold_sum_host()(deviations, noise);
  CHECK(flags_of(flags, 0) == 8);
  CHECK(flags_of(flags, 1) == 6);
  CHECK(flags_of(flags, 2) == 1);
  CHECK(checksum(flags) == 0x74650cf7);
}

TEST_CASE("windows that reach over an end of the band flag nothing") {
  std::vector<float> spectrum(40, 0.0F);
  for (std::size_t c = 0; c < 7; ++c) spectrum[c] = 7.59F;
  spectrum[7] = -33.0F;
  host_array<float> deviations({spectrum.size(), 2});
  for (std::size_t c = 0; c < spectrum.size(); ++c) {
    deviations(c, 0) = spectrum[c];
    deviations(spectrum.size() - 1 - c, 1) = spectrum[c];
  }
  host_array<float> noise({2});
  noise.fill(1.0F);
  CHECK(flags_of(threshold_sum_host()(deviations, noise)) == 0);
}

TEST_CASE("NaN and an unknown noise flag nothing, infinite deviations are flagged") {
  const auto deviations = column<float>({nan, 0, infinity, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  host_array<float> noise({1});
  noise(0) = 1.0F;
  are_flags(threshold_sum_host()(deviations, noise), {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  are_flags(threshold_simple_host()(deviations, noise), {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  noise(0) = nan;
  CHECK(flags_of(threshold_sum_host()(deviations, noise)) == 0);
  CHECK(flags_of(threshold_simple_host()(deviations, noise)) == 0);
}

TEST_CASE("parameters that mean no threshold are errors") {
  for (const double wrong : {0.0, -1.0, double{nan}, double{infinity}}) {
    CHECK_THROWS_AS(threshold_simple_host({wrong}), tune::argument_error);
    CHECK_THROWS_AS(threshold_sum_host({.n_sigma = wrong}), tune::argument_error);
    CHECK_THROWS_AS(threshold_sum_host({.threshold_falloff = wrong}), tune::argument_error);
  }
  CHECK_THROWS_AS(threshold_simple_host({11.0, 0}), tune::argument_error);
  CHECK_THROWS_AS(threshold_sum_host({.n_windows = 0}), tune::argument_error);
  CHECK_THROWS_AS(threshold_sum_host({.n_windows = max_windows + 1}), tune::argument_error);
}

struct golden_line {
  std::size_t width;
  int use;  // of flags: 0 none, 1 channel, 2 full
  double sum;
  std::array<double, 6> noise;
  int flags;
  std::uint32_t checksum;
};

constexpr std::array<golden_line, 6> golden{{
    {5, 0, 120.658125, {.28391, .299918, .330391, .320252, .366905, .413203}, 5, 0xcb5dd762},
    {5, 2, 121.754484, {.285844, .31191, .330391, .321693, .375303, .427132}, 5, 0xcb5dd762},
    {5, 1, 119.847214, {.289174, .31191, .313503, .320252, .461297, .430208}, 5, 0xcb5dd762},
    {13, 0, 192.809818, {.315156, .324733, .448683, .304131, .32257, .376196}, 8, 0x550364c4},
    {13, 2, 194.354475, {.314877, .32241, .433358, .300719, .355765, .378802}, 8, 0x550364c4},
    {13, 1, 194.535726, {.313331, .32241, .413013, .262141, .359584, .389797}, 8, 0x550364c4},
}};

TEST_CASE("golden: background, noise and flags of one-dimensional flagging") {
  const host_array<float> amplitudes = golden_amplitudes();
  const host_array<std::uint8_t> full = golden_flags();
  host_array<std::uint8_t> channel({96});
  for (std::size_t c = 0; c < 96; ++c) channel(c) = full(c, 1);
  for (const golden_line& line : golden) {
    CAPTURE(line.width);
    CAPTURE(line.use);
    const flags_pointer flags = line.use == 0 ? nullptr : line.use == 1 ? &channel : &full;
    const background_median_filter_host background(line.width);
    const auto deviations = background(amplitudes, flags);
    CHECK(sum_of(deviations) == doctest::Approx(line.sum).epsilon(1e-7));
    const auto noise = noise_estimate_mad_host()(deviations);
    for (std::size_t b = 0; b < 6; ++b) {
      CHECK(noise(b) == doctest::Approx(line.noise[b]).epsilon(2e-6));
    }
    const std::vector<std::shared_ptr<threshold_host>> thresholds{
        std::make_shared<threshold_simple_host>(), std::make_shared<threshold_sum_host>()};
    for (const auto& threshold : thresholds) {
      const auto found =
          flagger_host(std::make_shared<background_median_filter_host>(line.width),
                       std::make_shared<noise_estimate_mad_host>(), threshold)(amplitudes, flags);
      CHECK(flags_of(found) == line.flags);
      CHECK(checksum(found) == line.checksum);
    }
  }
}

TEST_CASE("a flagger finds the interference, and does not pass flags on") {
  const observation seen = observed();
  const flagger_host flagger(std::make_shared<background_median_filter_host>(13),
                             std::make_shared<noise_estimate_mad_host>(),
                             std::make_shared<threshold_simple_host>());
  CHECK(count_different(flagger(seen.vis), seen.interference) == 0);
  CHECK(count_different(flagger(seen.vis, &seen.flags), without(seen.interference, seen.flags)) ==
        0);
  CHECK(count_different(flagger(seen.vis, &seen.channel_flags),
                        without(seen.interference, seen.channel_flags)) == 0);
}

TEST_CASE("a flagger without one of its parts is an error") {
  CHECK_THROWS_AS(flagger_host(nullptr, std::make_shared<noise_estimate_mad_host>(),
                               std::make_shared<threshold_simple_host>()),
                  tune::argument_error);
}

}  // namespace rfi_host_test
