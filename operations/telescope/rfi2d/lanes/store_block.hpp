// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/scratch.hpp"

// Converts the results of SumThreshold to the flags of all channels.
namespace tune::operations {
namespace {

/// to[i] is flagged if one of the `extend` samples from i - extend / 2 on is flagged.
inline void smear(const lane_bits* from, lane_bits* to, std::size_t n, std::size_t stride,
                  std::size_t extend) {
  const std::size_t before = extend / 2;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = i < before ? 0 : i - before;
    const std::size_t last = n - i > extend - before ? i + extend - before : n;
    lane_bits bits = 0;
    for (std::size_t j = first; j < last; ++j) bits |= from[j * stride];
    to[i * stride] = bits;
  }
}

/// The lanes with more flags than `most` among n samples.
inline lane_bits have_more(const lane_bits* flags, std::size_t n, std::size_t stride, double most) {
  int_lanes count{};
  for (std::size_t i = 0; i < n; ++i) count -= expand(flags[i * stride]);
  unsigned bits = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    bits |= (static_cast<double>(count[lane]) > most ? 1U : 0U) << lane;
  }
  return static_cast<lane_bits>(bits);
}

RFI2D_INLINE void store_flags(const block_task& task, std::uint8_t* result, lane_bits bits) {
  if (task.baselines == lane_count) {
    // Eight bits become eight bytes: each byte keeps its own bit of a copy.
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint64_t byte = bits >> 8 * half & 0xFFU;
      const std::uint64_t copies = byte * 0x0101010101010101U & 0x8040201008040201U;
      const std::uint64_t flags = (copies + 0x7F7F7F7F7F7F7F7FU) >> 7 & 0x0101010101010101U;
      __builtin_memcpy(result + 8 * half, &flags, sizeof flags);
    }
    return;
  }
  for (std::size_t i = 0; i < task.baselines; ++i) result[i] = bits >> i & 1U;
}

inline void store_block(const block_plan& plan, const block_task& task,
                        const block_arrays& arrays) {
  lane_bits* const smeared = arrays.undefined;  // no longer needed
  for (std::size_t f = 0; f < plan.averaged; ++f) {
    smear(arrays.found + f, smeared + f, plan.times, arrays.stride, plan.time_extend);
  }
  for (std::size_t t = 0; t < plan.times; ++t) {
    const lane_bits* const averaged = smeared + t * arrays.stride;
    for (std::size_t f = 0, channel = 0; f < plan.averaged; ++f) {
      for (std::size_t k = 0; k < plan.average && channel < plan.channels; ++k) {
        arrays.row[channel++] = averaged[f];
      }
    }
    lane_bits* const row = arrays.flags + t * arrays.channel_stride;
    smear(arrays.row, row, plan.channels, 1, plan.freq_extend);
    arrays.full_times[t] = have_more(row, plan.channels, 1, plan.most_flags_of_time);
  }
  for (std::size_t channel = 0; channel < plan.channels; ++channel) {
    arrays.full_channels[channel] = have_more(arrays.flags + channel, plan.times,
                                              arrays.channel_stride, plan.most_flags_of_channel);
  }
  for (std::size_t t = 0; t < plan.times; ++t) {
    const std::size_t row = t * arrays.channel_stride;
    std::uint8_t* const result = task.result + t * task.result_time;
    for (std::size_t channel = 0; channel < plan.channels; ++channel) {
      const lane_bits bits = arrays.flags[row + channel] | arrays.missing[row + channel] |
                             arrays.full_times[t] | arrays.full_channels[channel];
      store_flags(task, result + channel * task.result_channel, bits);
    }
  }
}

}  // namespace
}  // namespace tune::operations
