// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/pfb/pfb.hpp"

namespace tune::operations {

/// The arguments of pfb::set_range.
struct pfb_range {
  std::vector<std::uint64_t> offsets;  ///< one for each polarisation
  std::size_t first_spectrum = 0;      ///< the index of the first one in the slot
  std::size_t spectra = 0;             ///< their number
};

/// The result of a pfb, computed on the host: in float, with fused multiply-add, in the order of
/// the taps. So a device may differ only by rounding products.
/// @param key          of the filter bank
/// @param range        the range to compute
/// @param samples      as in the slot: packed bytes, or complex numbers if key.bits is 0
/// @param weights      taps * step
/// @param spectra      as in the slot; elements outside the range are not changed
/// @param total_power  one for each polarisation, added to; not used if key.bits is 0
template <class Sample>
void pfb_on_host(const pfb_key& key, const pfb_range& range, const host_array<Sample>& samples,
                 std::span<const float> weights, host_array<std::complex<float>>& spectra,
                 std::span<std::uint64_t> total_power) {
  constexpr bool is_complex = std::is_same_v<Sample, std::complex<float>>;
  const std::size_t step = weights.size() / key.taps;
  const std::size_t m = spectra.size()[3];
  const auto part_of = [&](std::size_t pol, std::size_t sample, bool imaginary) -> float {
    if constexpr (is_complex) {
      return imaginary ? samples(pol, sample).imag() : samples(pol, sample).real();
    } else {
      return packed_sample(&samples(pol, 0), sample, key.bits);
    }
  };
  for (std::size_t pol = 0; pol < range.offsets.size(); ++pol) {
    for (std::size_t s = 0; s < range.spectra; ++s) {
      for (std::size_t c = 0; c < m * key.unzip; ++c) {
        float parts[2] = {};
        for (std::size_t part = 0; part < 2; ++part) {
          const std::size_t i = is_complex ? c : 2 * c + part;
          for (std::size_t t = 0; t < key.taps; ++t) {
            const std::size_t sample = range.offsets[pol] + (s + t) * step + i;
            const float x = part_of(pol, sample, part == 1);
            parts[part] = std::fma(weights[t * step + i], x, parts[part]);
            if (!is_complex && t + 1 == key.taps) {
              const auto number = static_cast<std::int64_t>(x);
              total_power[pol] += static_cast<std::uint64_t>(number * number);
            }
          }
        }
        spectra(pol, range.first_spectrum + s, c % key.unzip, c / key.unzip) = {parts[0], parts[1]};
      }
    }
  }
}

}  // namespace tune::operations
