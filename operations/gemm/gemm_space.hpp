// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The launch of a configuration of gemm, for the operation and for the search space.
#pragma once

#include <cstddef>

#include "operations/gemm/gemm.hpp"

namespace tune::operations {

/// A product in the view of the kernel, which makes the rows of C's array: if these are the columns
/// of C, it multiplies B, transposed, by A.
struct gemm_product {
  /// The product of matrices with the layouts of a key.
  explicit gemm_product(const gemm_key& key)
      : is_turned(key.c == gemm_layout::column_major),
        a_along_k(is_turned ? key.b == gemm_layout::column_major : key.a == gemm_layout::row_major),
        b_along_k(is_turned ? key.a == gemm_layout::row_major
                            : key.b == gemm_layout::column_major) {}

  bool is_turned;  ///< multiplies B by A
  bool a_along_k;  ///< true if elements of a row of the first operand are contiguous
  bool b_along_k;  ///< true if elements of a column of the second operand are contiguous
};

/// True for the instructions that multiply floats by tensor cores.
constexpr bool is_tf32(gemm_instruction instruction) noexcept {
  return instruction == gemm_instruction::tf32x3 || instruction == gemm_instruction::tf32;
}

/// The work items of a group.
std::size_t items_of(const gemm_tuning& t) noexcept;

/// The dynamic local memory of a group.
std::size_t local_memory_bytes(const gemm_key& key, const gemm_tuning& t);

/// Returns a tuning for all sizes on a device: on GPUs one of the space, but with mma.
gemm_tuning gemm_fallback(const gemm_key& key, const device& device);

/// @throws argument_error if no program can have this tuning on any device
void check_tuning(const gemm_key& key, const gemm_tuning& t);

}  // namespace tune::operations
