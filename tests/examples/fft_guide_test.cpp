// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <doctest/doctest.h>

#include "libtune/testing/devices.hpp"
#include "operations/fft/fft.hpp"

namespace fft_guide_test {

constexpr std::size_t antennas = 3;
constexpr std::size_t samples = 256;

/// A tone for each antenna, in channel 5 and the following.
tune::host_array<float> tones() {
  tune::host_array<float> voltages({antennas, samples});
  for (std::size_t a = 0; a < antennas; ++a) {
    for (std::size_t t = 0; t < samples; ++t) {
      voltages(a, t) =
          std::cos(2 * 3.14159265F * static_cast<float>((a + 5) * t % samples) / float{samples});
    }
  }
  return voltages;
}

LIBTUNE_DEVICE_TEST_CASE("the page on transforms finds the channel of a tone", device) {
  if (!tune::operations::fft_absence(device).empty()) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::host_array<float> voltages = tones();
  // clang-format off
  // [spectrum]
  using tune::operations::fft_template;
  const fft_template spectra(context, {.size = {antennas, samples}, .src = tune::dtype::float32});
  tune::operations::fft spectrum = spectra.instantiate(queue);
  spectrum.ensure_all_bound();
  spectrum.buffer("src").set(queue, voltages);
  spectrum.run();
  const auto channels = spectrum.buffer("dest").get<std::complex<float>>(queue);  // antennas x (samples / 2 + 1)
  // [spectrum]
  // clang-format on
  CHECK(channels.size() == tune::shape{antennas, samples / 2 + 1});
  for (std::size_t a = 0; a < antennas; ++a) {
    CHECK(std::abs(channels(a, a + 5)) == doctest::Approx(samples / 2));
    CHECK(std::abs(channels(a, a + 6)) < 1e-3);
  }
}

LIBTUNE_DEVICE_TEST_CASE("the page on transforms goes there and back", device) {
  if (!tune::operations::fft_absence(device).empty()) return;
  const tune::context context = device.create_context();
  tune::command_queue queue = context.create_command_queue();
  const tune::host_array<float> voltages = tones();
  using tune::operations::fft_template;
  // clang-format off
  // [sequence]
  const fft_template forward(context, {.size = {antennas, samples}, .src = tune::dtype::float32});
  const fft_template inverse(context, {.size = {antennas, samples}, .dest = tune::dtype::float32});
  tune::operation_sequence filter(
      queue, {{"there", forward.instantiate(queue)}, {"back", inverse.instantiate(queue)}},
      {{"spectrum", {"there:dest", "back:src"}}},
      {{"scratch", {tune::optional_slot("there:work_area"), tune::optional_slot("back:work_area")}}});
  // [sequence]
  // clang-format on
  filter.ensure_all_bound();
  filter.buffer("there:src").set(queue, voltages);
  filter.run();
  const auto returned = filter.buffer("back:dest").get<float>(queue);
  CHECK(returned(2, 9) == doctest::Approx(samples * voltages(2, 9)));
}

}  // namespace fft_guide_test
