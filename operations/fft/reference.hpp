// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Discrete Fourier transforms on the host in double precision: slow, short, and right for every
// length. The tuner and the tests compare with them.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "libtune/array/layout.hpp"

namespace tune::operations {

namespace host {

using host_complex = std::complex<double>;

/// The point of the unit circle at numerator / denominator of a turn.
inline host_complex unit_root(std::uint64_t numerator, std::uint64_t denominator) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator) /
                             static_cast<double>(denominator));
}

/// Cooley and Tukey's algorithm of radix 2, in place, for powers of two.
inline void fft_of_power_of_two(std::span<host_complex> values, int sign) {
  const std::size_t n = values.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  std::vector<host_complex> roots(n / 2);
  for (std::size_t k = 0; k < roots.size(); ++k) {
    roots[k] = sign < 0 ? std::conj(unit_root(k, n)) : unit_root(k, n);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        host_complex& low = values[start + k];
        host_complex& high = values[start + k + half];
        const host_complex turned = high * roots[k * (n / 2 / half)];
        high = low - turned;
        low += turned;
      }
    }
  }
}

/// Bluestein's algorithm: any length, as a convolution with a chirp.
inline void fft_of_any_length(std::span<host_complex> values, int sign) {
  const std::size_t n = values.size();
  const std::size_t padded = std::bit_ceil(2 * n);
  std::vector<host_complex> chirp(n);
  for (std::uint64_t k = 0; k < n; ++k) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): n is greater than k
    const host_complex root = unit_root(k * k % (2 * n), 2 * n);
    chirp[k] = sign < 0 ? std::conj(root) : root;
  }
  std::vector<host_complex> a(padded);
  std::vector<host_complex> b(padded);
  for (std::size_t k = 0; k < n; ++k) {
    a[k] = values[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[padded - k] = b[k];
  }
  fft_of_power_of_two(a, -1);
  fft_of_power_of_two(b, -1);
  for (std::size_t k = 0; k < padded; ++k) a[k] *= b[k];
  fft_of_power_of_two(a, 1);
  for (std::size_t k = 0; k < n; ++k) values[k] = a[k] * chirp[k] / static_cast<double>(padded);
}

/// Transforms every line of an array along one axis.
inline void fft_along(std::span<host_complex> values, const shape& size, std::size_t axis,
                      int sign) {
  const std::size_t length = size[axis];
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < size.rank(); ++i) stride *= size[i];
  std::vector<host_complex> line(length);
  for (std::size_t first = 0; first < values.size(); ++first) {
    if (first / stride % length != 0) continue;
    for (std::size_t k = 0; k < length; ++k) line[k] = values[first + k * stride];
    if (std::has_single_bit(length)) {
      fft_of_power_of_two(line, sign);
    } else {
      fft_of_any_length(line, sign);
    }
    for (std::size_t k = 0; k < length; ++k) values[first + k * stride] = line[k];
  }
}

}  // namespace host

/// Transforms the last axes of an array of complex numbers in place, unnormalised:
/// out[f] = sum over t of in[t] exp(sign 2 pi i f t / n).
/// @param values  in C order, without padding
/// @param size    of the array
/// @param axes    the number of transformed axes, counted from the last
/// @param sign    -1 for the forward transform, 1 for the inverse one
inline void fft_on_host(std::span<std::complex<double>> values, const shape& size, std::size_t axes,
                        int sign) {
  for (std::size_t axis = size.rank() - axes; axis < size.rank(); ++axis) {
    host::fft_along(values, size, axis, sign);
  }
}

/// The shape of the complex side of a transform of real numbers: the last axis of n elements
/// becomes one of n / 2 + 1.
inline shape half_spectrum(const shape& real) {
  std::vector<std::size_t> extents(real.begin(), real.end());
  if (!extents.empty()) extents.back() = extents.back() / 2 + 1;
  return shape(std::span<const std::size_t>(extents));
}

/// The forward transform of real numbers: the half of the spectrum that determines the other half.
/// @param values  in C order, without padding
/// @param size    of the real array
/// @param axes    the number of transformed axes, counted from the last
inline std::vector<std::complex<double>> real_fft_on_host(std::span<const double> values,
                                                          const shape& size, std::size_t axes) {
  std::vector<std::complex<double>> whole(values.begin(), values.end());
  fft_on_host(whole, size, axes, -1);
  const std::size_t length = size[size.rank() - 1];
  std::vector<std::complex<double>> half;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i % length <= length / 2) half.push_back(whole[i]);
  }
  return half;
}

/// The inverse transform of a half spectrum to real numbers. Imaginary parts that a spectrum of
/// real numbers cannot have are ignored.
/// @param values  in C order, without padding, of shape half_spectrum(size)
/// @param size    of the real array
/// @param axes    the number of transformed axes, counted from the last
inline std::vector<double> inverse_real_fft_on_host(std::span<const std::complex<double>> values,
                                                    const shape& size, std::size_t axes) {
  std::vector<std::complex<double>> half(values.begin(), values.end());
  const shape spectrum = half_spectrum(size);
  for (std::size_t axis = size.rank() - axes; axis + 1 < size.rank(); ++axis) {
    host::fft_along(half, spectrum, axis, 1);
  }
  const std::size_t length = size[size.rank() - 1];
  std::vector<double> real;
  std::vector<std::complex<double>> line(length);
  for (std::size_t first = 0; first < half.size(); first += length / 2 + 1) {
    for (std::size_t k = 0; k < length; ++k) {
      line[k] = k <= length / 2 ? half[first + k] : std::conj(half[first + length - k]);
    }
    fft_on_host(line, {length}, 1, 1);
    for (const auto& value : line) real.push_back(value.real());
  }
  return real;
}

}  // namespace tune::operations
