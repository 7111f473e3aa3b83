// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/scratch.hpp"

// Copies the caller's arrays to a block: magnitudes, averaged over channels.
namespace tune::operations {
namespace {

/// The magnitudes of one sample of each baseline. Squares of floats and their sum fit in a double
/// with one rounding, so all processors give the same result.
RFI2D_INLINE lanes load_magnitudes(const block_task& task, std::size_t t, std::size_t f) {
  const std::size_t at = t * task.data_time + f * task.data_channel;
  lanes value{};
  if (!task.is_complex) {
    if (task.baselines == lane_count) {
      __builtin_memcpy(&value, task.data + at, sizeof value);
    } else {
      for (std::size_t i = 0; i < task.baselines; ++i) value[i] = task.data[at + i];
    }
    return absolute(value);
  }
  float parts[2 * lane_count] = {};
  if (task.baselines == lane_count) {
    __builtin_memcpy(parts, task.data + 2 * at, sizeof parts);
  } else {
    for (std::size_t i = 0; i < 2 * task.baselines; ++i) parts[i] = task.data[2 * at + i];
  }
  float magnitudes[lane_count];
  for (std::size_t i = 0; i < lane_count; ++i) {
    const double re = parts[2 * i], im = parts[2 * i + 1];
    magnitudes[i] = static_cast<float>(__builtin_sqrt(re * re + im * im));
  }
  __builtin_memcpy(&value, magnitudes, sizeof value);
  return value;
}

RFI2D_INLINE lane_bits load_flags(const block_task& task, std::size_t t, std::size_t f) {
  const std::uint8_t* const flags = task.flags + t * task.flags_time + f * task.flags_channel;
  unsigned bits = 0;
#if defined(__x86_64__)
  if (task.baselines == lane_count) {
    __m128i bytes;
    __builtin_memcpy(&bytes, flags, sizeof bytes);
    bits = ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
    return static_cast<lane_bits>(bits);
  }
#endif
  for (std::size_t i = 0; i < task.baselines; ++i) bits |= (flags[i] != 0 ? 1U : 0U) << i;
  return static_cast<lane_bits>(bits);
}

/// Means of finite samples may be infinite; so amplitudes are limited to this, and backgrounds and
/// medians stay finite. The device has the same limit.
constexpr float most_amplitude = 1e38F;

/// Fills the arrays amplitude, flagged and missing.
inline void load_block(const block_plan& plan, const block_task& task, block_arrays& arrays) {
  for (std::size_t t = 0; t < plan.times; ++t) {
    for (std::size_t f = 0; f < plan.averaged; ++f) {
      const std::size_t begin = f * plan.average;
      const std::size_t end =
          plan.channels - begin < plan.average ? plan.channels : begin + plan.average;
      lanes sum{};
      int_lanes count{};
      for (std::size_t channel = begin; channel < end; ++channel) {
        const lanes value = load_magnitudes(task, t, channel);
        // NaN is not below infinity either.
        const auto missing = static_cast<lane_bits>(~greater(infinite_lanes, value));
        const auto out = static_cast<lane_bits>(missing | load_flags(task, t, channel));
        arrays.missing[t * arrays.channel_stride + channel] = missing;
        sum += select(out, zero_lanes, value);
        count += expand(out) + 1;
      }
      const lane_bits empty = greater(__builtin_convertvector(1 - count, lanes), zero_lanes);
      if (plan.average > 1) {
        sum /= select(empty, zero_lanes + 1.0F, __builtin_convertvector(count, lanes));
      }
      arrays.amplitude[t * arrays.stride + f] = smaller(sum, zero_lanes + most_amplitude);
      arrays.flagged[t * arrays.stride + f] = empty;
    }
  }
}

}  // namespace
}  // namespace tune::operations
