// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/gemm/reference.hpp"
#include "operations/workload.hpp"

namespace gemm_cases {

using tune::dtype;
using tune::float16;
using tune::host_array;
using tune::shape;
using tune::operations::cuda_generation;
using tune::operations::gemm;
using tune::operations::gemm_instruction;
using tune::operations::gemm_key;
using tune::operations::gemm_layout;
using tune::operations::gemm_template;
using tune::operations::gemm_tuning;

/// One product.
struct product_case {
  std::size_t m = 1;
  std::size_t n = 1;
  std::size_t k = 1;
  float alpha = 1;
  float beta = 0;
  std::size_t padding = 0;  ///< of the rows of all arrays, in elements
};

/// All layouts of three matrices.
inline std::vector<gemm_key> all_layouts(dtype input, dtype output) {
  std::vector<gemm_key> keys;
  for (const gemm_layout a : {gemm_layout::row_major, gemm_layout::column_major}) {
    for (const gemm_layout b : {gemm_layout::row_major, gemm_layout::column_major}) {
      for (const gemm_layout c : {gemm_layout::row_major, gemm_layout::column_major}) {
        keys.push_back({.input = input, .output = output, .a = a, .b = b, .c = c});
      }
    }
  }
  return keys;
}

/// Numbers between -1 and 1 in a matrix, and NaN in its padding.
template <class T>
host_array<T> random_matrix(gemm_layout layout, std::size_t rows, std::size_t columns,
                            std::size_t padding, std::uint32_t seed) {
  if (layout == gemm_layout::column_major) std::swap(rows, columns);
  host_array<T> made({rows, columns}, {rows, columns + padding});
  made.fill(static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      seed = seed * 1664525U + 1013904223U;
      made(i, j) =
          static_cast<T>(static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) * 0x1p-23F);
    }
  }
  return made;
}

template <class T>
tune::device_array on_device(tune::command_queue& queue, const host_array<T>& contents) {
  tune::device_array made(queue.context(), contents.layout());
  queue.write(made.buffer(), contents.data(), contents.layout().bytes(), 0);
  return made;
}

template <class In, class Out>
void multiplies(const gemm_template& made, const gemm_key& key, tune::command_queue queue,
                const product_case& of) {
  const auto a = random_matrix<In>(key.a, of.m, of.k, of.padding, 1);
  const auto b = random_matrix<In>(key.b, of.k, of.n, of.padding, 2);
  auto c = random_matrix<Out>(key.c, of.m, of.n, of.padding, 3);
  // Not to be read.
  if (of.beta == 0) c.fill(static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
  gemm op = made.instantiate(queue, of.m, of.n, of.k);
  CAPTURE(op.parts());
  op.bind("a", on_device(queue, a));
  op.bind("b", on_device(queue, b));
  op.bind("c", on_device(queue, c));
  op.set_factors(of.alpha, of.beta);
  op.run();
  const auto got = op.buffer("c").template get<Out>(queue);
  tune::operations::gemm_on_host(key, of.alpha, of.beta, a, b, c);
  const tune::tolerance allowed = tune::operations::gemm_tolerance(key, of.k);
  for (std::size_t i = 0; i < c.size()[0]; ++i) {
    for (std::size_t j = 0; j < c.size()[1]; ++j) {
      const auto expected = static_cast<double>(static_cast<float>(c(i, j)));
      const auto is = static_cast<double>(static_cast<float>(got(i, j)));
      const double most = *allowed.absolute + *allowed.relative * std::abs(expected);
      if (std::abs(is - expected) <= most) continue;
      FAIL("row " << i << ", column " << j << " is " << is << " instead of " << expected);
    }
  }
  // What is beside C belongs to others.
  host_array<Out> raw(c.size(), c.layout().padded());
  queue.read(op.buffer("c").buffer(), raw.data(), raw.layout().bytes(), 0);
  const std::size_t width = c.layout().padded()[1];
  for (std::size_t i = 0; i < c.size()[0]; ++i) {
    const auto first = i * width + c.size()[1];
    const bool is_kept =
        std::memcmp(raw.data() + first, c.data() + first, (width - c.size()[1]) * sizeof(Out)) == 0;
    if (!is_kept) FAIL("the padding of row " << i << " is written");
  }
}

/// Multiplies matrices on the device and on the host, and compares.
inline void multiplies(const gemm_template& made, const gemm_key& key,
                       const tune::command_queue& queue, const product_case& of) {
  CAPTURE(tune::to_string(tune::to_values(key)));
  CAPTURE(tune::to_string(tune::to_values(made.tuning_for(of.m, of.n, of.k))));
  CAPTURE(of.m);
  CAPTURE(of.n);
  CAPTURE(of.k);
  CAPTURE(of.beta);
  CAPTURE(of.padding);
  if (key.input == dtype::float32) {
    multiplies<float, float>(made, key, queue, of);
  } else if (key.output == dtype::float32) {
    multiplies<float16, float>(made, key, queue, of);
  } else {
    multiplies<float16, float16>(made, key, queue, of);
  }
}

/// Sizes around those of tiles and of words of 16 bytes, with and without padding.
inline const std::vector<product_case>& odd_cases() {
  static const std::vector<product_case> cases{
      {.m = 1, .n = 1, .k = 1},
      {.m = 3, .n = 130, .k = 17, .alpha = 2, .beta = 1, .padding = 1},
      {.m = 130, .n = 3, .k = 65, .alpha = -0.5F, .beta = 0},
      {.m = 17, .n = 33, .k = 3, .alpha = 1, .beta = -1, .padding = 7},
      {.m = 131, .n = 140, .k = 136, .alpha = 1, .beta = 0.5F, .padding = 4},
      {.m = 64, .n = 128, .k = 64, .alpha = 1, .beta = 0, .padding = 8}};
  return cases;
}

}  // namespace gemm_cases
