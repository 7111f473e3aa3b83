// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "operations/hreduce/column_range.hpp"

namespace tune::operations {

/// The five order statistics of the rows of a host array of rank 2, on the host, by sorting. T is
/// float or std::complex<float>.
template <element T>
host_array<float> percentile5_on_host(const host_array<T>& src, const column_range& range) {
  host_array<float> dest({5, src.size()[0]});
  for (std::size_t row = 0; row < src.size()[0]; ++row) {
    std::vector<float> values;
    for (std::size_t column = range.begin; column < range.end; ++column) {
      float value = 0;
      if constexpr (std::is_same_v<T, float>) {
        value = src(row, column);
      } else {
        value = static_cast<float>(std::abs(std::complex<double>(src(row, column))));
      }
      if (!std::isnan(value)) values.push_back(value);
    }
    std::ranges::sort(values);
    const std::size_t last = values.size() - 1;
    const std::array<std::size_t, 5> ranks{0, last, last / 4, 3 * last / 4, last / 2};
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      dest(k, row) = values.empty() ? std::numeric_limits<float>::quiet_NaN() : values.at(ranks[k]);
    }
  }
  return dest;
}

}  // namespace tune::operations
