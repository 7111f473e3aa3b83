// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/rfi2d/parameters.hpp"
#include "tests/operations/telescope/numpy_random.hpp"

/// Magnitudes and flags, times x channels x baselines.
struct rfi2d_case {
  rfi2d_case(std::size_t times, std::size_t channels, std::size_t baselines)
      : data({times, channels, baselines}), flags({times, channels, baselines}) {}

  tune::host_array<float> data;
  tune::host_array<std::uint8_t> flags;
};

/// The input of the golden numbers that were made with katsdpsigproc 1.10.
inline rfi2d_case golden_rfi2d_case() {
  rfi2d_case made(40, 120, 2);
  tune::host_array<float>& d = made.data;
  numpy_random random(1);
  for (std::size_t i = 0; i < d.padded_elements(); ++i) {
    d.data()[i] = static_cast<float>(2.34 + 0.1 * (random.random_sample() - 0.5));
  }
  const auto add = [&](std::size_t t, std::size_t t_end, std::size_t f, std::size_t f_end,
                       std::size_t b, float more) {
    for (; t < t_end; ++t) {
      for (std::size_t i = f; i < f_end; ++i) d(t, i, b) += more;
    }
  };
  add(12, 13, 0, 120, 0, 1.0F);
  add(0, 40, 17, 18, 1, 1.0F);
  add(20, 23, 50, 60, 0, 0.8F);
  add(5, 35, 70, 71, 1, 1.0F);
  add(30, 31, 100, 101, 0, 5.0F);
  add(30, 31, 100, 101, 1, 5.0F);
  d(33, 40, 0) = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t t = 0; t < 40; ++t) {
    for (std::size_t f = 90; f < 95; ++f) {
      for (std::size_t b = 0; b < 2; ++b) {
        d(t, f, b) = std::numeric_limits<float>::quiet_NaN();
        made.flags(t, f, b) = 1;
      }
    }
  }
  for (std::size_t i = 0; i < d.padded_elements(); ++i) d.data()[i] = std::abs(d.data()[i]);
  return made;
}

/// Noise with interference of all kinds, flags, and numbers that are not finite.
inline rfi2d_case random_rfi2d_case(std::size_t times, std::size_t channels, std::size_t baselines,
                                    std::uint32_t seed) {
  rfi2d_case made(times, channels, baselines);
  numpy_random random(seed);
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random.randint(0, static_cast<std::int64_t>(limit)));
  };
  const double flagged = 0.2 * random.random_sample();
  for (std::size_t i = 0; i < made.data.padded_elements(); ++i) {
    auto value = static_cast<float>(random.normal(5, 0.3));
    const double kind = random.random_sample();
    if (kind < 0.001) value = std::numeric_limits<float>::quiet_NaN();
    if (kind > 0.999) value = std::numeric_limits<float>::infinity();
    made.data.data()[i] = value;
    made.flags.data()[i] = random.random_sample() < flagged ? 7 : 0;
  }
  if (made.data.padded_elements() == 0) return made;
  for (int k = 0; k < 8; ++k) {
    const std::size_t t = below(times), f = below(channels), b = below(baselines);
    const std::size_t t_end = std::min(times, t + 1 + below(k % 2 != 0 ? 3 : times));
    const std::size_t f_end = std::min(channels, f + 1 + below(k % 3 != 0 ? 5 : channels));
    const auto more = static_cast<float>(random.uniform(-2, 10));
    for (std::size_t i = t; i < t_end; ++i) {
      for (std::size_t j = f; j < f_end; ++j) made.data(i, j, b) += more;
    }
  }
  return made;
}
