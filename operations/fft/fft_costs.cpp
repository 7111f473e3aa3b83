// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/fft_costs.hpp"

#include <algorithm>
#include <cmath>

namespace tune::operations {
namespace {

std::uint64_t largest_prime_of(std::uint64_t size) {
  std::uint64_t largest = 1;
  for (std::uint64_t factor = 2; factor * factor <= size; factor += factor == 2 ? 1 : 2) {
    for (; size % factor == 0; size /= factor) largest = factor;
  }
  return std::max(largest, size);
}

}  // namespace

size_feature_list fft_features(std::span<const std::uint64_t> sizes) {
  return {static_cast<double>(largest_prime_of(sizes[2]))};
}

cost_terms fft_terms(const device_limits& device, double bytes_of_element,
                     std::span<const std::uint64_t> sizes) {
  constexpr double small = 1e-6;
  double steps = 1;
  double elements = small * static_cast<double>(sizes[3]);
  bool has_no_radix = false;       // VkFFT has no radix for the largest factor
  bool is_long_for_it = false;     // and the length exceeds 1024
  bool has_no_kernel = false;      // cuFFT has no kernel for the largest factor
  bool is_composed = false;        // and the length has other factors
  bool is_long = false;            // and exceeds 4096
  bool is_long_and_rough = false;  // and the factor exceeds 127
  for (const std::uint64_t size : sizes.first(3)) {
    const std::uint64_t prime = largest_prime_of(size);
    steps += std::log2(static_cast<double>(std::max<std::uint64_t>(size, 1)));
    elements *= static_cast<double>(size);
    has_no_radix |= prime > 13;
    is_long_for_it |= prime > 13 && size > 1024;
    has_no_kernel |= prime > 31;
    is_composed |= prime > 31 && size > prime;
    is_long |= prime > 31 && size > 4096;
    is_long_and_rough |= prime > 127 && size > 4096;
  }
  const auto if_true = [](bool says, double number) { return says ? number : 0; };
  // For source and destination.
  const double bytes = 2 * bytes_of_element * elements;
  const double cache = small * static_cast<double>(device.cache_bytes);
  return {elements,
          elements * steps,
          if_true(has_no_radix, elements),
          if_true(is_long_for_it, elements),
          if_true(has_no_kernel, elements),
          if_true(is_long, elements),
          if_true(is_long_and_rough, elements),
          steps,
          if_true(has_no_radix, 1),
          if_true(is_long_for_it, 1),
          if_true(has_no_kernel, 1),
          if_true(is_composed, 1),
          if_true(is_long, 1),
          if_true(is_long_and_rough, 1),
          std::max(bytes - cache, 0.0)};
}

}  // namespace tune::operations
