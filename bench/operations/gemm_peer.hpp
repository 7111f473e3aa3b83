// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "operations/gemm/gemm.hpp"

namespace peers {

/// Returns a function that enqueues cublasGemmEx on the queue of an operation's arrays, with floats
/// for sums and products, and never TF32; an empty one if cuBLAS does not support it.
/// @param key          C is row_major
/// @param is_pedantic  CUBLAS_PEDANTIC_MATH
std::function<void()> cublas_gemm(const tune::command_queue& queue,
                                  const tune::operations::gemm_key& key, std::size_t m,
                                  std::size_t n, std::size_t k, const tune::device_array& a,
                                  const tune::device_array& b, const tune::device_array& c,
                                  bool is_pedantic);

}  // namespace peers
