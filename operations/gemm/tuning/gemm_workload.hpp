// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The matrices of a search, and products that the host computes, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/verify/answer.hpp"
#include "operations/gemm/gemm.hpp"
#include "operations/workload.hpp"

namespace tune::operations {

/// Rows in units of 16 bytes, which are copied at once, are several times as fast as others.
inline constexpr std::size_t gemm_copied_bytes = 16;

/// Makes a matrix with rows padded as an operation pads its own, and sets its elements to numbers
/// between -1 and 1, which repeat. The host draws the first ones once, because there are many
/// sizes. Waits for the queue.
/// @param seed  1 or 2, selects the sequence
device_array make_matrix(const command_queue& queue, dtype type, gemm_layout order,
                         std::size_t rows, std::size_t columns, std::uint32_t seed);

/// Random matrices and their product from the host. The product is computed once in a process,
/// because a tuning for ranges uses the same ones at many sizes.
class known_gemm {
 public:
  known_gemm(const command_queue& queue, const gemm_key& key, std::size_t m, std::size_t n,
             std::size_t k, float alpha, float beta);

  /// Runs a program, and returns the fault of its product; empty if it is right.
  /// @param measured  the accuracy of a right product is added to it; of halves beside the rounded
  ///                  answer
  std::optional<std::string> find_wrong(const program& built, const gemm_tuning& tuning,
                                        accuracy& measured) const;

 private:
  template <class In, class Out>
  void set();

  gemm_key key_;
  std::size_t m_;
  std::size_t n_;
  std::size_t k_;
  float alpha_;
  float beta_;
  workload work_;
  answer expected_;
};

}  // namespace tune::operations
