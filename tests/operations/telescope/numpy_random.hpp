// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

#include "libtune/array/host_array.hpp"

/// The numbers of numpy's RandomState(seed), for a seed of 32 bits: the same engine, and the same
/// ways from its draws to numbers.
class numpy_random {
 public:
  explicit numpy_random(std::uint32_t seed = 1) : engine_(seed) {}

  /// Uniform in [0, 1), with 53 random bits.
  double random_sample() {
    const auto high = static_cast<double>(draw() >> 5);
    const auto low = static_cast<double>(draw() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  double uniform(double low, double high) { return low + (high - low) * random_sample(); }

  /// Normal with mean 0 and variance 1, by Marsaglia's polar method, which makes two at a time.
  double standard_normal() {
    if (spare_) {
      const double spare = *spare_;
      spare_.reset();
      return spare;
    }
    double x1 = 0;
    double x2 = 0;
    double square = 0;
    do {
      x1 = 2.0 * random_sample() - 1.0;
      x2 = 2.0 * random_sample() - 1.0;
      square = x1 * x1 + x2 * x2;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = factor * x1;
    return factor * x2;
  }

  double normal(double mean, double deviation) { return mean + deviation * standard_normal(); }

  /// A whole number from low to high - 1; these are less than 2^32 apart.
  std::int64_t randint(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint32_t>(high - 1 - low);
    if (range == 0) return low;
    std::uint32_t mask = range;
    for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    std::uint32_t drawn = 0;
    do drawn = draw() & mask;
    while (drawn > range);
    return low + drawn;
  }

  /// A matrix of what a function without arguments returns, in C order, each as T.
  template <tune::element T, class Draw>
  static tune::host_array<T> matrix(std::size_t rows, std::size_t columns, Draw&& next) {
    tune::host_array<T> numbers({rows, columns});
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        numbers(row, column) = static_cast<T>(next());
      }
    }
    return numbers;
  }

  /// A matrix of complex normal numbers: all real parts are drawn, then all imaginary parts.
  tune::host_array<std::complex<float>> complex_normal(std::size_t rows, std::size_t columns) {
    auto numbers = matrix<std::complex<float>>(
        rows, columns, [&] { return static_cast<float>(standard_normal()); });
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        numbers(row, column).imag(static_cast<float>(standard_normal()));
      }
    }
    return numbers;
  }

 private:
  std::uint32_t draw() { return static_cast<std::uint32_t>(engine_()); }

  std::mt19937 engine_;
  std::optional<double> spare_;
};
