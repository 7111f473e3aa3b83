// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "libtune/verify/comparison.hpp"
#include "operations/gemm/gemm.hpp"

namespace tune::operations {

namespace detail {

/// The elements of a matrix by rows, as doubles.
template <class T>
std::vector<double> in_rows(const host_array<T>& from, gemm_layout layout) {
  const bool is_turned = layout == gemm_layout::column_major;
  const std::size_t rows = from.size()[is_turned ? 1 : 0];
  const std::size_t columns = from.size()[is_turned ? 0 : 1];
  std::vector<double> made(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      made[r * columns + c] =
          static_cast<double>(static_cast<float>(is_turned ? from(c, r) : from(r, c)));
    }
  }
  return made;
}

}  // namespace detail

/// Computes c = alpha a b + beta c on the host, as gemm does, with sums of doubles: 1e9 products
/// take about a second. The previous c is not read if beta is 0.
/// @param key   the layouts
/// @param a, b  of the shapes of the slots
/// @param c     in the shape of its slot; becomes the result, rounded to its type
template <element In, element Out>
void gemm_on_host(const gemm_key& key, float alpha, float beta, const host_array<In>& a,
                  const host_array<In>& b, host_array<Out>& c) {
  const std::vector<double> rows = detail::in_rows(a, key.a);
  const std::vector<double> columns = detail::in_rows(b, key.b);
  const bool is_turned = key.c == gemm_layout::column_major;
  const std::size_t m = c.size()[is_turned ? 1 : 0];
  const std::size_t n = c.size()[is_turned ? 0 : 1];
  const std::size_t k = m == 0 ? 0 : rows.size() / m;
  constexpr std::size_t block = 64;  // of k; its rows of b stay in a cache
  std::vector<double> sums(m * n);
  for (std::size_t first = 0; first < k; first += block) {
    for (std::size_t i = 0; i < m; ++i) {
      double* const to = sums.data() + i * n;
      for (std::size_t p = first; p < std::min(first + block, k); ++p) {
        const double factor = rows[i * k + p];
        const double* const from = columns.data() + p * n;
        for (std::size_t j = 0; j < n; ++j) to[j] += factor * from[j];
      }
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Out& to = is_turned ? c(j, i) : c(i, j);
      double value = static_cast<double>(alpha) * sums[i * n + j];
      if (beta != 0)
        value += static_cast<double>(beta) * static_cast<double>(static_cast<float>(to));
      to = static_cast<Out>(static_cast<float>(value));
    }
  }
}

/// Returns the largest difference of gemm from the exact result, for elements of A and B that are
/// uniformly distributed between -1 and 1, and factors up to 2: errors of k sums of about sqrt(k) /
/// 3.
inline tolerance gemm_tolerance(const gemm_key& key, std::size_t k) {
  // Inputs are rounded to 11 bits, with errors that nearly cancel.
  if (key.input == dtype::float32 && key.precision == gemm_precision::tf32) {
    return {.absolute = 0x1p-10 * std::sqrt(static_cast<double>(k + 16)), .relative = 0x1p-10};
  }
  // Tensor cores truncate sums, so their errors do not cancel.
  const bool is_exact = key.input == dtype::float32 && key.precision == gemm_precision::exact;
  const double part = is_exact ? 0x1p-22 : 0x1p-20;
  return {.absolute = part * static_cast<double>(k + 16),
          .relative = key.output == dtype::float16 ? 0x1p-10 : 0x1p-22};
}

}  // namespace tune::operations
