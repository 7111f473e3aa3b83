// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/block.hpp"
#include "operations/telescope/rfi2d/lanes/lanes.hpp"

// Smooths a line and the weights of its samples.
namespace tune::operations {
namespace {

/// The number of sums of each kind that are computed at once: as many as there are registers for.
constexpr std::size_t smoothed_together = 8;

struct masked_line {
  lanes* values;
  lanes* weights;
};

/// to[i] = the sum over j of taps[j - i] from[j], for i in [begin, end) and j in [0, n), always in
/// the order of j: so a sum does not depend on the cuts of the line. to[0] is the sum of begin;
/// elements after the last may be overwritten, up to the next multiple of smoothed_together.
RFI2D_INLINE void smooth(const masked_line& from, std::size_t n, std::size_t begin, std::size_t end,
                         const block_taps& taps, const masked_line& to) {
  constexpr std::size_t together = smoothed_together;
  static_assert(together <= block_taps::zeros);
  for (std::size_t i = begin; i < end; i += together) {
    lanes values[together], weights[together];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < together; ++k) values[k] = weights[k] = zero_lanes;
    const std::size_t first = i < taps.reach ? 0 : i - taps.reach;
    const std::size_t past = i + together + taps.reach;
    const std::size_t last = past < n ? past : n;
    for (std::size_t j = first; j < last; ++j) {
      const lanes value = from.values[j], weight = from.weights[j];
      const float* const tap = taps.centre + j - i;
#pragma GCC unroll 8
      for (std::size_t k = 0; k < together; ++k) {
        values[k] = fused(value, *(tap - k), values[k]);
        weights[k] = fused(weight, *(tap - k), weights[k]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t k = 0; k < together; ++k) {
      to.values[i - begin + k] = values[k];
      to.weights[i - begin + k] = weights[k];
    }
  }
}

}  // namespace
}  // namespace tune::operations
