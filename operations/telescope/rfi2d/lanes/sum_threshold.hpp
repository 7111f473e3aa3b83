// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/block.hpp"
#include "operations/telescope/rfi2d/lanes/lanes.hpp"

// SumThreshold (Offringa et al. 2010, MNRAS 405, 155) with both signs, along one line of sixteen
// baselines.
namespace tune::operations {
namespace {

/// Scratch memory for a line of n samples.
struct threshold_scratch {
  lanes* sums;
  lanes* partial;
  lane_bits* positive;
  lane_bits* negative;
};

/// The first n + 1 - length of sums become sums of `length` neighbours, and are returned; partial
/// may be overwritten.
RFI2D_INLINE lanes* window_sums(lanes* sums, lanes* partial, std::size_t n, std::size_t length) {
  lanes* result = nullptr;
  std::size_t summed = 0;
  for (std::size_t size = 1;; size *= 2) {
    const bool is_last = 2 * size > length;
    if ((length & size) != 0) {
      if (result == nullptr && is_last) return sums;
      for (std::size_t i = 0; i + length <= n; ++i) {
        partial[i] = result == nullptr ? sums[i] : partial[i] + sums[i + summed];
      }
      result = partial;
      summed += size;
    }
    if (is_last) return result;
    for (std::size_t i = 0; i + 2 * size <= n; ++i) sums[i] += sums[i + size];
  }
}

/// Flags, in positive and negative, the samples of windows whose sum is above or below the
/// threshold for the noise. Samples flagged by shorter windows are clamped first.
/// @param noise  the median of |x| of samples that are not flagged; infinity flags nothing
RFI2D_INLINE void sum_threshold(const lanes* x, std::size_t n, lanes noise,
                                const block_windows& windows, const threshold_scratch& room) {
  for (std::size_t i = 0; i < n; ++i) room.positive[i] = room.negative[i] = 0;
  bool clean = true;
  for (std::size_t k = 0; k < windows.count; ++k) {
    const block_window window = windows.first[k];
    if (window.length > n) break;
    const lanes clamp = noise * window.clamp;
    const lanes limit = noise * window.factor;
    for (std::size_t i = 0; i < n; ++i) {
      lanes value = x[i];
      if (!clean && (room.positive[i] | room.negative[i]) != 0) {
        value = select(room.positive[i] & greater(value, clamp), clamp, value);
        value = select(room.negative[i] & greater(-clamp, value), -clamp, value);
      }
      room.sums[i] = value;
    }
    const lanes* const sums = window_sums(room.sums, room.partial, n, window.length);
    for (std::size_t i = 0; i + window.length <= n; ++i) {
      const lane_bits above = greater(sums[i], limit);
      const lane_bits below = greater(-limit, sums[i]);
      if ((above | below) == 0) continue;
      clean = false;
      for (std::size_t j = i; j < i + window.length; ++j) {
        room.positive[j] |= above;
        room.negative[j] |= below;
      }
    }
  }
}

}  // namespace
}  // namespace tune::operations
