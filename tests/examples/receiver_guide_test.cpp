// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The code of operations/telescope/pfb/README.md and operations/telescope/ddc/README.md.
#include <cmath>
#include <complex>
#include <cstdint>
#include <doctest/doctest.h>
#include <numbers>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/pfb/pfb.hpp"

namespace receiver_guide_test {

constexpr std::size_t polarisations = 2;

/// Two rows of a packed cosine of so many cycles per sample.
tune::host_array<std::uint8_t> cosine(std::size_t samples, double frequency, double amplitude) {
  std::vector<std::int16_t> wave(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const double angle = 2 * std::numbers::pi * frequency * static_cast<double>(i);
    wave[i] = static_cast<std::int16_t>(std::lround(amplitude * std::cos(angle)));
  }
  tune::host_array<std::uint8_t> rows(
      {polarisations, tune::operations::packed_row_bytes(samples, 10)});
  for (std::size_t p = 0; p < polarisations; ++p) {
    tune::operations::pack_samples(wave, 10, {&rows(p, 0), rows.size()[1]});
  }
  return rows;
}

LIBTUNE_DEVICE_TEST_CASE("the page on filter banks filters the samples of two polarisations",
                         device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t capacity = std::size_t{1024} * 2 * 24;
  constexpr std::size_t offset_x = 3;
  constexpr std::size_t offset_y = 1000;
  constexpr std::size_t first = 2;
  constexpr std::size_t count = 4;
  // clang-format off
  // [filter]
  using namespace tune::operations;
  const pfb_template made(context, {.taps = 16, .bits = 10, .unzip = 4});
  pfb bank = made.instantiate(queue, {.polarisations = 2, .channels = 1024, .samples = capacity, .spectra = 8});
  bank.ensure_all_bound();
  const std::vector<float> weights = pfb_weights(16, bank.step());
  bank.buffer("weights").set(queue, tune::host_array<float>::wrap_const(weights, {weights.size()}));
  bank.buffer("total_power").zero(queue);
  bank.set_range({offset_x, offset_y}, first, count);  // of each chunk; allocates nothing
  // [filter]
  // clang-format on
  bank.buffer("samples").set(queue, cosine(capacity, 0.25, 100));
  bank.run();
  const auto power = bank.buffer("total_power").get<std::uint64_t>(queue);
  for (std::size_t p = 0; p < polarisations; ++p) CHECK(power(p) == count * 2048 * 5000);
}

LIBTUNE_DEVICE_TEST_CASE("the page on filter banks makes one for ranges of sizes", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t capacity = std::size_t{1024} * 2 * 24;
  using namespace tune::operations;
  // clang-format off
  // [ranges]
  const tune::size_range channels(1024, 32768, tune::range_scale::logarithmic, 16);
  const ranged_pfb_template made(context, {.taps = 16, .bits = 10, .unzip = 4, .channels = channels, .spectra = {8, 8192}});
  pfb bank = made.instantiate(queue, {.channels = 1024, .samples = capacity, .spectra = 8});
  // [ranges]
  // clang-format on
  CHECK(bank.spectra() == 8);
  CHECK(made.portfolio().facts().ranges.size() == 2);
}

LIBTUNE_DEVICE_TEST_CASE("the page on down-conversion brings a tone to a standstill", device) {
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  constexpr std::size_t samples = 4096;
  constexpr std::uint64_t first_sample = 1712000;
  // clang-format off
  // [convert]
  using namespace tune::operations;
  const mixer_frequency f{.numerator = -107, .denominator = 1712};  // cycles per sample
  const ddc_template made(context, {.taps = 128, .subsampling = 8, .bits = 10});
  ddc converter = made.instantiate(queue, polarisations, samples);
  converter.ensure_all_bound();
  const std::vector<std::complex<float>> taps = ddc_taps(ddc_filter(128, 8), f);
  converter.buffer("taps").set(queue, tune::host_array<std::complex<float>>::wrap_const(taps, {128}));
  converter.set_mixer(mixer_step(f, 8), mixer_phase(f, first_sample));  // of each chunk; allocates nothing
  // [convert]
  // clang-format on
  converter.buffer("samples").set(queue, cosine(samples, 107.0 / 1712, 400));
  converter.run();
  const auto out = converter.buffer("out").get<std::complex<float>>(queue);
  for (std::size_t i = 0; i < converter.outputs(); ++i) {
    // Half of the amplitude, times the root of the subsampling.
    CHECK(out(1, i).real() == doctest::Approx(200 * std::sqrt(8.0)).epsilon(0.002));
    CHECK(std::abs(out(1, i).imag()) < 1);
  }
}

}  // namespace receiver_guide_test
