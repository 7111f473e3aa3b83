// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/pfb/tuning/pfb_case.hpp"

#include <complex>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace tune::operations {
namespace {

/// Returns numbers from -2^15 to 2^15.
float next_sample(std::uint32_t& state) {
  return static_cast<float>(static_cast<std::int32_t>(next_number(state))) * 0x1p-16F;
}

}  // namespace

std::size_t step_of(const pfb_key& key, const pfb_shape& shape) {
  if (shape.channels == 0 || shape.channels % pfb_channel_multiple != 0 ||
      shape.channels > most_pfb_channels) {
    throw argument_error(
        fmt::format("pfb cannot make {} channels; their number is a multiple of {}, "
                    "and {} at most",
                    shape.channels, pfb_channel_multiple, most_pfb_channels));
  }
  return key.bits != 0 ? 2 * shape.channels : shape.channels;
}

pfb_case::pfb_case(const command_queue& queue, const pfb_key& its_key, const pfb_shape& its_shape,
                   pfb_range its_range)
    : key(its_key), shape(its_shape), range(std::move(its_range)), work(queue) {
  std::uint32_t state = 1;
  const std::size_t step = step_of(key, shape);
  host_array<float> weights({key.taps * step});
  for (std::size_t i = 0; i < key.taps * step; ++i) weights(i) = next_sample(state) * 0x1p-16F;
  const std::span<const float> all(weights.data(), key.taps * step);
  host_array<std::complex<float>> spectra(
      {shape.polarisations, shape.spectra, key.unzip, shape.channels / key.unzip});
  work.set("spectra", spectra);
  if (key.bits == 0) {
    host_array<std::complex<float>> samples({shape.polarisations, shape.samples});
    for (std::size_t i = 0; i < shape.polarisations * shape.samples; ++i) {
      samples.data()[i] = {next_sample(state), next_sample(state)};
    }
    pfb_on_host(key, range, samples, all, spectra, {});
    work.set("samples", std::move(samples));
  } else {
    const std::size_t row = packed_row_bytes(shape.samples, key.bits);
    host_array<std::uint8_t> samples({shape.polarisations, row});
    for (std::size_t i = 0; i < shape.polarisations * row; ++i) {
      samples.data()[i] = static_cast<std::uint8_t>(next_number(state) >> 24);
    }
    host_array<std::uint64_t> power({shape.polarisations});
    // Makes the low word carry.
    for (std::size_t p = 0; p < shape.polarisations; ++p) power(p) = 0x5FFFFFFF0U + p;
    work.set("total_power", power);
    pfb_on_host(key, range, samples, all, spectra, {power.data(), shape.polarisations});
    work.set("samples", std::move(samples));
    expected.add("total_power", std::move(power), tolerance::exact());
  }
  work.set("weights", std::move(weights));
  // Relative to the largest terms of a sum, because sums may cancel.
  const double largest = key.bits == 0 ? 0x1p15 : static_cast<double>(1U << (key.bits - 1));
  expected.add("spectra", std::move(spectra),
               {.absolute = 1e-6 * largest * static_cast<double>(key.taps), .relative = 1e-5});
}

std::optional<std::string> pfb_case::find_wrong(const program& built,
                                                const pfb_tuning& tuning) const {
  pfb op(work.queue(), built, tuning, key, shape);
  op.set_range(range.offsets, range.first_spectrum, range.spectra);
  auto wrong = find_fault(op, work, expected);
  if (wrong) {
    wrong = fmt::format("of {} spectra of {} channels: {}", range.spectra, shape.channels, *wrong);
  }
  return wrong;
}

}  // namespace tune::operations
