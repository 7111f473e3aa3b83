// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/background.hpp"
#include "operations/telescope/rfi2d/lanes/load_block.hpp"
#include "operations/telescope/rfi2d/lanes/median.hpp"
#include "operations/telescope/rfi2d/lanes/scratch.hpp"
#include "operations/telescope/rfi2d/lanes/store_block.hpp"
#include "operations/telescope/rfi2d/lanes/sum_threshold.hpp"

// The steps of the flagger on one block. Each source that includes this compiles it for one kind of
// processor.
namespace tune::operations {
namespace {

/// Flags along frequency, by parts of the band.
struct frequency_line {
  const lanes* x;
  const lanes* level;        ///< subtracted from x
  const lane_bits* flagged;  ///< samples excluded from the noise
  lane_bits* found;          ///< the result is combined with it by or
};

inline void threshold_frequencies(const block_plan& plan, block_arrays& arrays,
                                  const frequency_line& line) {
  const block_windows& windows = plan.freq_windows;
  if (windows.count == 0) return;
  const std::size_t beyond = windows.first[windows.count - 1].length - 1;
  lanes* const values = arrays.line_values;
  for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
    const std::size_t begin = plan.chunk_ends[chunk];
    const std::size_t end = plan.chunk_ends[chunk + 1];
    int_lanes count{};
    for (std::size_t f = begin; f < end; ++f) {
      const lanes x = line.x[f] - line.level[f];
      arrays.threshold.sums[f - begin] = select(line.flagged[f], infinite_lanes, absolute(x));
      count += expand(line.flagged[f]) + 1;
    }
    const lanes noise = median(arrays.threshold.sums, end - begin, count);
    const std::size_t from = begin < beyond ? 0 : begin - beyond;
    const std::size_t to = plan.averaged - end < beyond ? plan.averaged : end + beyond;
    for (std::size_t f = from; f < to; ++f) values[f - from] = line.x[f] - line.level[f];
    sum_threshold(values, to - from, noise, windows, arrays.threshold);
    for (std::size_t f = begin; f < end; ++f) {
      line.found[f] |= arrays.threshold.positive[f - from] | arrays.threshold.negative[f - from];
    }
  }
}

inline void threshold_times(const block_plan& plan, block_arrays& arrays, std::size_t f) {
  lanes* const values = arrays.line_values;
  int_lanes count{};
  for (std::size_t t = 0; t < plan.times; ++t) {
    const std::size_t at = t * arrays.stride + f;
    values[t] = arrays.amplitude[at] - arrays.background[at];
    arrays.threshold.sums[t] = select(arrays.flagged[at], infinite_lanes, absolute(values[t]));
    count += expand(arrays.flagged[at]) + 1;
  }
  const lanes noise = median(arrays.threshold.sums, plan.times, count);
  sum_threshold(values, plan.times, noise, plan.time_windows, arrays.threshold);
  for (std::size_t t = 0; t < plan.times; ++t) {
    const lane_bits found = arrays.threshold.positive[t] | arrays.threshold.negative[t];
    arrays.found[t * arrays.stride + f] |= found;
    arrays.flagged[t * arrays.stride + f] |= found;
  }
}

/// Flags channels by their medians over time.
inline void flag_spectrum(const block_plan& plan, block_arrays& arrays) {
  lanes* const sorted = arrays.threshold.sums;
  for (std::size_t f = 0; f < plan.averaged; ++f) {
    int_lanes count{};
    for (std::size_t t = 0; t < plan.times; ++t) {
      const std::size_t at = t * arrays.stride + f;
      sorted[t] = select(arrays.flagged[at], infinite_lanes, arrays.amplitude[at]);
      count += expand(arrays.flagged[at]) + 1;
    }
    const lane_bits empty = greater(__builtin_convertvector(1 - count, lanes), zero_lanes);
    arrays.spectrum[f] = select(empty, zero_lanes, median(sorted, plan.times, count));
    arrays.spectrum_flagged[f] = empty;
    arrays.spectrum_found[f] = 0;
  }
  compute_background(plan, arrays,
                     {.data = arrays.spectrum,
                      .level = arrays.level,
                      .flagged = arrays.spectrum_flagged,
                      .times = 1});
  threshold_frequencies(plan, arrays,
                        {.x = arrays.spectrum,
                         .level = arrays.level,
                         .flagged = arrays.spectrum_flagged,
                         .found = arrays.spectrum_found});
  for (std::size_t t = 0; t < plan.times; ++t) {
    for (std::size_t f = 0; f < plan.averaged; ++f) {
      arrays.found[t * arrays.stride + f] = arrays.spectrum_found[f];
      arrays.flagged[t * arrays.stride + f] |= arrays.spectrum_found[f];
    }
  }
}

inline void flag_block(const block_plan& plan, const block_task& task, void* memory) {
  block_arrays arrays{};
  lay_out(plan, memory, arrays);
  load_block(plan, task, arrays);
  flag_spectrum(plan, arrays);
  compute_background(plan, arrays,
                     {.data = arrays.amplitude,
                      .level = arrays.background,
                      .flagged = arrays.flagged,
                      .times = plan.times});
  if (plan.time_windows.count > 0) {
    for (std::size_t f = 0; f < plan.averaged; ++f) threshold_times(plan, arrays, f);
  }
  for (std::size_t t = 0; t < plan.times; ++t) {
    const std::size_t row = t * arrays.stride;
    threshold_frequencies(plan, arrays,
                          {.x = arrays.amplitude + row,
                           .level = arrays.background + row,
                           .flagged = arrays.flagged + row,
                           .found = arrays.found + row});
  }
  store_block(plan, task, arrays);
}

}  // namespace
}  // namespace tune::operations
