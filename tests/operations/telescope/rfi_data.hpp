// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "libtune/array/host_array.hpp"
#include "tests/operations/telescope/numpy_random.hpp"

/// Inputs of the tests of one-dimensional flagging.
namespace rfi_data {

using tune::host_array;

template <class T>
int count_different(const host_array<T>& a, const host_array<T>& b) {
  if (a.size() != b.size()) return -1;
  int different = 0;
  for (std::size_t r = 0; r < a.size()[0]; ++r) {
    for (std::size_t c = 0; c < a.size()[1]; ++c) different += a(r, c) != b(r, c) ? 1 : 0;
  }
  return different;
}

/// The flags of one baseline.
inline int flags_of(const host_array<std::uint8_t>& flags, std::size_t baseline) {
  int count = 0;
  for (std::size_t c = 0; c < flags.size()[0]; ++c) count += flags(c, baseline) != 0 ? 1 : 0;
  return count;
}

inline int flags_of(const host_array<std::uint8_t>& flags) {
  int count = 0;
  for (std::size_t b = 0; b < flags.size()[1]; ++b) count += flags_of(flags, b);
  return count;
}

inline double sum_of(const host_array<float>& numbers) {
  double sum = 0;
  for (std::size_t r = 0; r < numbers.size()[0]; ++r) {
    for (std::size_t c = 0; c < numbers.size()[1]; ++c) sum += double{numbers(r, c)};
  }
  return sum;
}

/// CRC-32 of the elements in C order, as zlib computes it.
inline std::uint32_t checksum(const host_array<std::uint8_t>& flags) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t r = 0; r < flags.size()[0]; ++r) {
    for (std::size_t c = 0; c < flags.size()[1]; ++c) {
      crc ^= flags(r, c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
    }
  }
  return ~crc;
}

inline host_array<std::uint8_t> multiplied(host_array<std::uint8_t> flags, int factor) {
  for (std::size_t r = 0; r < flags.size()[0]; ++r) {
    for (std::size_t c = 0; c < flags.size()[1]; ++c) {
      flags(r, c) = static_cast<std::uint8_t>(flags(r, c) * factor);
    }
  }
  return flags;
}

/// Flags, except where others are set.
inline host_array<std::uint8_t> without(host_array<std::uint8_t> flags,
                                        const host_array<std::uint8_t>& others) {
  for (std::size_t c = 0; c < flags.size()[0]; ++c) {
    for (std::size_t b = 0; b < flags.size()[1]; ++b) {
      if ((others.size().rank() == 1 ? others(c) : others(c, b)) != 0) flags(c, b) = 0;
    }
  }
  return flags;
}

/// The amplitudes of the golden numbers: noise, with interference at eight places.
inline host_array<float> golden_amplitudes() {
  numpy_random random(1);
  auto amplitudes = numpy_random::matrix<float>(96, 6, [&] { return random.random_sample() + 1; });
  using place = std::pair<std::size_t, std::size_t>;
  for (const auto& [c, b] : {place{10, 0}, place{10, 1}, place{40, 2}, place{41, 2}, place{42, 2},
                             place{95, 3}, place{0, 4}, place{50, 5}}) {
    amplitudes(c, b) += 25.0F;
  }
  return amplitudes;
}

inline host_array<std::uint8_t> golden_flags() {
  host_array<std::uint8_t> flags({96, 6});
  for (std::size_t c = 20; c < 30; ++c) flags(c, 1) = 4;
  for (std::size_t b = 0; b < 6; ++b) flags(60, b) = 1;
  return flags;
}

struct injected {
  host_array<float> deviations;
  host_array<std::uint8_t> flags;
};

/// Normal noise of a deviation of 10, and 200 more at a quarter of the samples.
inline injected injected_deviations(std::size_t channels = 117, std::size_t baselines = 273) {
  numpy_random random(1);
  auto deviations =
      numpy_random::matrix<float>(channels, baselines, [&] { return random.normal(0, 10); });
  auto flags = numpy_random::matrix<std::uint8_t>(
      channels, baselines, [&] { return random.random_sample() < 0.25 ? 1 : 0; });
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t b = 0; b < baselines; ++b) {
      if (flags(c, b) != 0) deviations(c, b) += 200.0F;
    }
  }
  return {std::move(deviations), std::move(flags)};
}

struct observation {
  host_array<std::complex<float>> vis;
  host_array<std::uint8_t> interference;   ///< 1 where the amplitude is 50 to 70
  host_array<std::uint8_t> flags;          ///< some of it, and some of the rest
  host_array<std::uint8_t> channel_flags;  ///< for each channel
};

/// Complex normal noise with interference at a sixteenth of the samples.
inline observation observed(std::size_t channels = 117, std::size_t baselines = 131) {
  numpy_random random(1);
  observation made{
      random.complex_normal(channels, baselines), host_array<std::uint8_t>({channels, baselines}),
      host_array<std::uint8_t>({channels, baselines}), host_array<std::uint8_t>({channels})};
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t b = 0; b < baselines; ++b) {
      if (random.random_sample() < 1.0 / 16) {
        const double angle = random.uniform(0, 6.28);
        made.vis(c, b) =
            std::polar(static_cast<float>(random.uniform(50, 70)), static_cast<float>(angle));
        made.interference(c, b) = 1;
      }
      made.flags(c, b) = random.random_sample() < 1.0 / 16 ? 2 : 0;
    }
    made.channel_flags(c) = random.random_sample() < 1.0 / 16 ? 1 : 0;
  }
  return made;
}

}  // namespace rfi_data
