// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/masked_gaussian.hpp"
#include "operations/telescope/rfi2d/lanes/median.hpp"
#include "operations/telescope/rfi2d/lanes/scratch.hpp"

// The background: the mean of the samples that are not flagged, with the weights of a Gaussian in
// time and frequency.
namespace tune::operations {
namespace {

/// The samples of a background: times x averaged channels, or one spectrum.
struct background_task {
  const lanes* data;
  lanes* level;              ///< the result
  const lane_bits* flagged;  ///< samples without weight
  std::size_t times;
};

/// A part of the band, and the channels smoothed along time for it.
struct band_part {
  std::size_t begin;
  std::size_t end;
  std::size_t from;
  std::size_t to;
};

RFI2D_INLINE band_part with_sides(const block_plan& plan, std::size_t begin, std::size_t end,
                                  std::size_t halo) {
  return {begin, end, begin < halo ? 0 : begin - halo,
          plan.averaged - end < halo ? plan.averaged : end + halo};
}

/// Smooths one channel along time, into the arrays smooth and weight, whose first channel at each
/// time is part.from.
inline void smooth_time(const block_arrays& arrays, const background_task& task,
                        const block_taps& taps, std::size_t f, const band_part& part) {
  for (std::size_t t = 0; t < task.times; ++t) {
    const std::size_t at = t * arrays.stride + f;
    const lane_bits out = task.flagged[at] | arrays.rejected[at];
    arrays.line.values[t] = select(out, zero_lanes, task.data[at]);
    arrays.line.weights[t] = select(out, zero_lanes, zero_lanes + 1.0F);
  }
  const std::size_t width = part.to - part.from;
  const masked_line* smoothed = &arrays.line;
  if (taps.reach > 0 && task.times > 1) {
    smooth(arrays.line, task.times, 0, task.times, taps, arrays.smoothed);
    smoothed = &arrays.smoothed;
  }
  for (std::size_t t = 0; t < task.times; ++t) {
    arrays.smooth[t * width + f - part.from] = smoothed->values[t];
    arrays.weight[t * width + f - part.from] = smoothed->weights[t];
  }
}

/// Computes the background of channels [begin, end), and marks the places without a sample near
/// them.
inline void masked_gaussian(const block_plan& plan, const block_arrays& arrays,
                            const background_task& task, const block_background& background,
                            std::size_t begin, std::size_t end) {
  const band_part part = with_sides(plan, begin, end, background.freq.reach);
  const std::size_t width = part.to - part.from;
  for (std::size_t f = part.from; f < part.to; ++f) {
    smooth_time(arrays, task, background.time, f, part);
  }
  for (std::size_t t = 0; t < task.times; ++t) {
    const masked_line row{arrays.smooth + t * width, arrays.weight + t * width};
    smooth(row, width, begin - part.from, end - part.from, background.freq, arrays.smoothed);
    for (std::size_t f = begin; f < end; ++f) {
      const lanes weight = arrays.smoothed.weights[f - begin];
      const lane_bits defined = greater(weight, zero_lanes);
      task.level[t * arrays.stride + f] =
          arrays.smoothed.values[f - begin] / select(defined, weight, zero_lanes + 1.0F);
      arrays.undefined[t * arrays.stride + f] = static_cast<lane_bits>(~defined);
    }
  }
}

/// Rejects the samples of channels [begin, end) that are too far from the background.
inline void reject_outliers(const block_plan& plan, const block_arrays& arrays,
                            const background_task& task, std::size_t begin, std::size_t end) {
  lanes* const residuals = arrays.smooth;
  std::size_t n = 0;
  int_lanes count{};
  for (std::size_t t = 0; t < task.times; ++t) {
    for (std::size_t f = begin; f < end; ++f) {
      const std::size_t at = t * arrays.stride + f;
      const lane_bits out = task.flagged[at] | arrays.rejected[at];
      residuals[n++] = select(out, infinite_lanes, absolute(task.data[at] - task.level[at]));
      count += expand(out) + 1;
    }
  }
  const lanes limit = median_by_search(residuals, n, count) * plan.reject;
  n = 0;
  for (std::size_t t = 0; t < task.times; ++t) {
    for (std::size_t f = begin; f < end; ++f) {
      arrays.rejecting[t * arrays.stride + f] = greater(residuals[n++], limit);
    }
  }
}

/// Interpolates the level of one baseline and time at undefined places: linearly in frequency,
/// constant at the ends, 0 if all are undefined.
inline void interpolate_line(lanes* level, const lane_bits* undefined, std::size_t n,
                             std::size_t lane) {
  const auto is_undefined = [&](std::size_t f) { return (undefined[f] >> lane & 1U) != 0; };
  std::size_t known = n;  // the last defined index; n: none yet
  for (std::size_t f = 0; f < n; ++f) {
    if (!is_undefined(f)) {
      known = f;
      continue;
    }
    std::size_t next = f;
    while (next < n && is_undefined(next)) ++next;
    for (std::size_t i = f; i < next; ++i) {
      if (known == n) {
        level[i][lane] = next == n ? 0.0F : level[next][lane];
      } else if (next == n) {
        level[i][lane] = level[known][lane];
      } else {
        const double from = level[known][lane];
        const double slope =
            (static_cast<double>(level[next][lane]) - from) / static_cast<double>(next - known);
        level[i][lane] =
            static_cast<float>(__builtin_fma(slope, static_cast<double>(i - known), from));
      }
    }
    f = next - 1;
  }
}

inline void interpolate(const block_plan& plan, const block_arrays& arrays,
                        const background_task& task) {
  for (std::size_t t = 0; t < task.times; ++t) {
    const std::size_t row = t * arrays.stride;
    unsigned any = 0;
    for (std::size_t f = 0; f < plan.averaged; ++f) any |= arrays.undefined[row + f];
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if ((any >> lane & 1U) == 0) continue;
      interpolate_line(task.level + row, arrays.undefined + row, plan.averaged, lane);
    }
  }
}

/// Computes the background, after the plan's rounds of rejecting outliers.
inline void compute_background(const block_plan& plan, const block_arrays& arrays,
                               const background_task& task) {
  const std::size_t samples = task.times * arrays.stride;
  for (std::size_t i = 0; i < samples; ++i) arrays.rejected[i] = arrays.rejecting[i] = 0;
  for (std::size_t k = 0; k < plan.background_count; ++k) {
    const bool is_last = k + 1 == plan.background_count;
    for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
      const std::size_t begin = plan.chunk_ends[chunk];
      const std::size_t end = plan.chunk_ends[chunk + 1];
      masked_gaussian(plan, arrays, task, plan.backgrounds[k], begin, end);
      if (!is_last) reject_outliers(plan, arrays, task, begin, end);
    }
    if (is_last) continue;
    for (std::size_t i = 0; i < samples; ++i) arrays.rejected[i] |= arrays.rejecting[i];
  }
  interpolate(plan, arrays, task);
}

}  // namespace
}  // namespace tune::operations
