// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"

namespace tune::operations {

/// Voltages of at most 4 bits in the form of correlate with keys of 4 bits: real parts in the high
/// four bits of a byte.
inline host_array<std::uint8_t> packed_voltages(const host_array<std::int8_t>& in) {
  const shape& size = in.size();
  host_array<std::uint8_t> made({size[0], size[1], size[2], size[3], size[4]});
  for (std::size_t i = 0; i < made.layout().bytes(); ++i) {
    const auto re = static_cast<unsigned>(int{in.data()[2 * i]});
    const auto im = static_cast<unsigned>(int{in.data()[2 * i + 1]});
    made.data()[i] = static_cast<std::uint8_t>((re & 15) << 4 | (im & 15));
  }
  return made;
}

/// Adds the products of voltages to accumulators on the host, as correlate does.
/// @param in            batches x antennas x channels x spectra x 2 x {re, im}
/// @param range         the batches to add
/// @param visibilities  1 x channels x baselines x 4 x {re, im}: added to
inline void correlate_on_host(const host_array<std::int8_t>& in, const batch_range& range,
                              host_array<std::int64_t>& visibilities) {
  const shape& size = in.size();
  const std::size_t antennas = size[1];
  const std::size_t channels = size[2];
  const std::size_t spectra = size[3];
  const auto words = [&](std::size_t batch, std::size_t antenna, std::size_t channel) {
    return in.data() + ((batch * antennas + antenna) * channels + channel) * spectra * 4;
  };
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t a2 = 0; a2 < antennas; ++a2) {
      for (std::size_t a1 = 0; a1 <= a2; ++a1) {
        std::array<std::int64_t, 8> sums{};
        for (std::size_t batch = range.begin; batch < range.end; ++batch) {
          const std::int8_t* x = words(batch, a1, channel);
          const std::int8_t* y = words(batch, a2, channel);
          for (std::size_t t = 0; t < spectra; ++t, x += 4, y += 4) {
            for (std::size_t p = 0; p < 4; ++p) {
              const int re1{x[p % 2 * 2]}, im1{x[p % 2 * 2 + 1]};
              const int re2{y[p / 2 * 2]}, im2{y[p / 2 * 2 + 1]};
              sums[2 * p] += re1 * re2 + im1 * im2;
              sums[2 * p + 1] += im1 * re2 - re1 * im2;
            }
          }
        }
        const std::size_t baseline = baseline_index(a1, a2);
        for (std::size_t i = 0; i < 8; ++i)
          visibilities(0, channel, baseline, i / 2, i % 2) += sums[i];
      }
    }
  }
}

/// The dump that correlate_reduce makes of accumulators.
struct reduced_visibilities {
  host_array<std::int32_t> out;       ///< channels x 4 baselines x {re, im}
  host_array<std::uint32_t> clamped;  ///< 1
};

/// Reduces accumulators on the host, as correlate_reduce does.
/// @param visibilities  copies x channels x baselines x 4 x {re, im}
/// @param absent        baselines
inline reduced_visibilities reduce_on_host(const host_array<std::int64_t>& visibilities,
                                           const host_array<std::uint8_t>& absent) {
  const shape& size = visibilities.size();
  reduced_visibilities made{host_array<std::int32_t>({size[1], 4 * size[2], 2}),
                            host_array<std::uint32_t>({1})};
  made.clamped(0) = 0;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t channel = 0; channel < size[1]; ++channel) {
    for (std::size_t i = 0; i < 4 * size[2]; ++i) {
      bool was_clamped = false;
      for (std::size_t part = 0; part < 2; ++part) {
        std::int64_t sum = 0;
        for (std::size_t copy = 0; copy < size[0]; ++copy) {
          sum += visibilities(copy, channel, i / 4, i % 4, part);
        }
        const std::int64_t kept = std::clamp(sum, -most, most);
        was_clamped = was_clamped || kept != sum;
        made.out(channel, i, part) = static_cast<std::int32_t>(kept);
      }
      if (absent(i / 4) != 0) {
        made.out(channel, i, 0) = absent_re;
        made.out(channel, i, 1) = absent_im;
      } else if (was_clamped) {
        ++made.clamped(0);
      }
    }
  }
  return made;
}

}  // namespace tune::operations
