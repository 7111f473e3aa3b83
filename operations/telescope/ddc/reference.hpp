// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/ddc/ddc.hpp"

namespace tune::operations {

/// The result of a ddc, computed on the host in double precision.
/// @param key      of the down-converter
/// @param samples  as in the slot
/// @param taps     as many as in the key
/// @param count    samples of each row
/// @param step     as for ddc::set_mixer
/// @param phase    as for ddc::set_mixer
/// @returns polarisations x outputs
inline host_array<std::complex<float>> ddc_on_host(const ddc_key& key,
                                                   const host_array<std::uint8_t>& samples,
                                                   std::span<const std::complex<float>> taps,
                                                   std::size_t count, std::uint64_t step,
                                                   std::uint64_t phase) {
  const std::size_t outputs = ddc_outputs(count, key.taps, key.subsampling);
  host_array<std::complex<float>> out({samples.size()[0], outputs});
  for (std::size_t p = 0; p < samples.size()[0]; ++p) {
    for (std::size_t i = 0; i < outputs; ++i) {
      std::complex<double> sum;
      for (std::size_t k = 0; k < key.taps; ++k) {
        const double x = packed_sample(&samples(p, 0), i * key.subsampling + k, key.bits);
        sum += x * std::complex<double>(taps[k]);
      }
      const auto cycles = static_cast<double>(step * i + phase) * 0x1p-64;
      const auto rotated = sum * std::polar(1.0, 2 * std::numbers::pi * cycles);
      out(p, i) = {static_cast<float>(rotated.real()), static_cast<float>(rotated.imag())};
    }
  }
  return out;
}

}  // namespace tune::operations
