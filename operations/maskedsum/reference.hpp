// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "libtune/array/host_array.hpp"

namespace tune::operations {

/// Adds the rows of a host array of rank 2 on the host, each with its weight, in double precision.
/// T is std::complex<float>, or float for the sums of |x|.
template <element T>
host_array<T> maskedsum_on_host(const host_array<std::complex<float>>& src,
                                const host_array<float>& mask) {
  using wide = std::conditional_t<std::is_same_v<T, float>, double, std::complex<double>>;
  std::vector<wide> sums(src.size()[1]);
  for (std::size_t row = 0; row < src.size()[0]; ++row) {
    for (std::size_t column = 0; column < sums.size(); ++column) {
      const std::complex<double> x(src(row, column));
      if constexpr (std::is_same_v<T, float>) {
        sums[column] += static_cast<double>(mask(row)) * std::abs(x);
      } else {
        sums[column] += static_cast<double>(mask(row)) * x;
      }
    }
  }
  host_array<T> dest({sums.size()});
  for (std::size_t column = 0; column < sums.size(); ++column) {
    dest(column) = static_cast<T>(sums[column]);
  }
  return dest;
}

}  // namespace tune::operations
