// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A synthetic sea: noise, and a tone for each hydrophone.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace sonar {

constexpr std::size_t length = 1024;  ///< samples of a block, which becomes a spectrum
constexpr std::size_t bins = length / 2 + 1;

/// The bin of the tone at a hydrophone.
inline std::size_t bin_of_tone(std::size_t hydrophone) { return 11 + 37 * hydrophone % 491; }

template <class T>
std::vector<T> noise(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> value(0, 1000);
  std::vector<T> made(count);
  for (T& each : made) each = static_cast<T>(value(random));
  return made;
}

/// The samples of a frame, hydrophones x blocks x length. The tones are loud, and not in the middle
/// of their bins: without a window, they would be found in other bins, too.
inline std::vector<std::int16_t> sea_of(std::size_t hydrophones, std::size_t blocks) {
  auto samples = noise<std::int16_t>(hydrophones * blocks * length);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double bin = 0.3 + static_cast<double>(bin_of_tone(i / (blocks * length)));
    const double turns = bin * static_cast<double>(i % (blocks * length)) / length;
    samples[i] =
        static_cast<std::int16_t>(samples[i] + 8000 * std::sin(2 * std::numbers::pi * turns));
  }
  return samples;
}

/// True if each block had the tones of the sea, and nothing else.
/// @param hits    hydrophones x bins: the blocks in which the bin had a tone
/// @param blocks  of each hydrophone
inline bool are_right(const std::vector<std::size_t>& hits, std::size_t blocks) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const bool has_tone = i % bins == bin_of_tone(i / bins);
    if (hits[i] != (has_tone ? blocks : 0)) return false;
  }
  return true;
}

}  // namespace sonar
