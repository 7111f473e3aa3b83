// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// The four words that Philox4x32 makes of a counter and a key: Salmon, Moraes, Dror and Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3" (2011). Kernels use 7 rounds.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::uint64_t key, unsigned rounds = 7) {
  auto low = static_cast<std::uint32_t>(key);
  auto high = static_cast<std::uint32_t>(key >> 32);
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint64_t a = 0xd2511f53ULL * counter[0];
    const std::uint64_t b = 0xcd9e8d57ULL * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9e3779b9U;
    high += 0xbb67ae85U;
  }
  return counter;
}

/// The keys of Philox's rounds in the form of the kernels: the lower or the upper words.
constexpr std::array<std::uint32_t, 8> philox_keys(std::uint64_t seed, bool upper) {
  std::array<std::uint32_t, 8> keys{};
  auto key = static_cast<std::uint32_t>(upper ? seed >> 32 : seed);
  for (std::uint32_t& item : keys) {
    item = key;
    key += upper ? 0xbb67ae85U : 0x9e3779b9U;
  }
  return keys;
}

/// The numbers added to the real and to the imaginary part of a value before rounding: odd
/// multiples of 2^-16 between -1/2 and 1/2.
constexpr std::array<float, 2> dither_of_word(std::uint32_t word) {
  const std::uint32_t odd = word | 0x00010001U;
  return {static_cast<float>(odd & 0xffffU) * 0x1p-16F - 0.5F,
          static_cast<float>(odd >> 16) * 0x1p-16F - 0.5F};
}

/// The dither of the operation quantise.
/// @param seed          of the stream
/// @param spectrum      the absolute number of the spectrum
/// @param channel       its index before the cut
/// @param channels      of a whole spectrum
/// @param polarisation  0 or 1
constexpr std::array<float, 2> quantise_dither(std::uint64_t seed, std::uint64_t spectrum,
                                               std::size_t channel, std::size_t channels,
                                               std::size_t polarisation) {
  const std::size_t half = channels / 2;
  const std::size_t upper = channel >= half ? 1 : 0;
  const auto words =
      philox({static_cast<std::uint32_t>(spectrum), static_cast<std::uint32_t>(spectrum >> 32),
              static_cast<std::uint32_t>(channel - upper * half), 0},
             seed);
  return dither_of_word(words.at(2 * upper + polarisation));
}

/// The dither of the operation beamform.
/// @param seed           of the stream
/// @param first         the absolute number of the first spectrum of the run
/// @param spectrum      counted from the first one
/// @param channel, beam  their indices
constexpr std::array<float, 2> beamform_dither(std::uint64_t seed, std::uint64_t first,
                                               std::uint64_t spectrum, std::size_t channel,
                                               std::size_t beam) {
  const std::uint64_t number = first + spectrum / 4 * 4;
  const auto words =
      philox({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
              static_cast<std::uint32_t>(channel), static_cast<std::uint32_t>(beam)},
             seed);
  return dither_of_word(words.at(spectrum % 4));
}

}  // namespace tune::operations
