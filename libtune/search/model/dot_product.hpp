// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

namespace tune::detail {

/// Returns the dot product of two vectors. Eight partial sums allow a compiler to use one vector
/// register; with a single sum it has to keep the order of the additions.
inline float dot_product(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace tune::detail
