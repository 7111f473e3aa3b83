// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/telescope/rfi2d/lanes/block.hpp"
#include "operations/telescope/rfi2d/lanes/lanes.hpp"
#include "operations/telescope/rfi2d/lanes/masked_gaussian.hpp"
#include "operations/telescope/rfi2d/lanes/sum_threshold.hpp"

namespace tune::operations {
namespace {

/// The arrays of a block. Arrays of samples are times x channels.
struct block_arrays {
  lanes* amplitude;  ///< averaged; 0 if flagged
  lanes* background;
  lanes* spectrum;      ///< the medians over time
  lanes* level;         ///< the background of the spectrum
  lane_bits* flagged;   ///< given flags, or no finite sample
  lane_bits* rejected;  ///< also excluded from the background
  lane_bits* rejecting;
  lane_bits* found;
  lane_bits* spectrum_flagged;
  lane_bits* spectrum_found;
  lane_bits* undefined;      ///< has no background of its own
  lane_bits* missing;        ///< not finite before averaging
  lane_bits* flags;          ///< the result, without missing samples
  lane_bits* row;            ///< all channels of one time
  lane_bits* full_times;     ///< times with too many flags
  lane_bits* full_channels;  ///< channels with too many flags
  lanes* smooth;             ///< times x the channels of a part of the band
  lanes* weight;
  masked_line line;  ///< a line before, and after smoothing
  masked_line smoothed;
  lanes* line_values;
  threshold_scratch threshold;
  std::size_t stride;          ///< between times in averaged arrays
  std::size_t channel_stride;  ///< between times in arrays before averaging
};

struct block_extents {
  explicit block_extents(const block_plan& plan) {
    for (std::size_t i = 0; i < plan.background_count; ++i) {
      const std::size_t reach = plan.backgrounds[i].freq.reach;
      halo = reach > halo ? reach : halo;
    }
    std::size_t widest = 0;
    for (std::size_t i = 0; i < plan.chunks; ++i) {
      const std::size_t width = plan.chunk_ends[i + 1] - plan.chunk_ends[i];
      widest = width > widest ? width : widest;
    }
    // One more row of cache lines keeps the samples of one channel from sharing one set of the
    // cache.
    stride = plan.averaged + 3;
    part = (widest + 2 * halo < plan.averaged ? widest + 2 * halo : plan.averaged) + 3;
    longest = (plan.averaged > plan.times ? plan.averaged : plan.times) + smoothed_together;
  }

  std::size_t halo = 0;  ///< channels that the widest background needs on each side
  std::size_t stride = 0;
  std::size_t part = 0;     ///< channels of the widest part of the band, with those on its sides
  std::size_t longest = 0;  ///< samples of the longest line
};

/// Allocates from a block of memory, or only counts the bytes if it is null.
class bump_allocator {
 public:
  explicit bump_allocator(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <class T>
  void take(T*& array, std::size_t count) {
    if (memory_ != nullptr) array = reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + 63) / 64 * 64;
  }
  std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

/// Lays the arrays out in memory. @returns their total size in bytes
inline std::size_t lay_out(const block_plan& plan, void* memory, block_arrays& arrays) {
  const block_extents extents(plan);
  bump_allocator from(memory);
  const std::size_t samples = plan.times * extents.stride;
  arrays.stride = extents.stride;
  arrays.channel_stride = plan.channels + 96;  // more than a cache line apart, as for stride
  from.take(arrays.amplitude, samples);
  from.take(arrays.background, samples);
  from.take(arrays.spectrum, extents.stride);
  from.take(arrays.level, extents.stride);
  from.take(arrays.flagged, samples);
  from.take(arrays.rejected, samples);
  from.take(arrays.rejecting, samples);
  from.take(arrays.found, samples);
  from.take(arrays.undefined, samples);
  from.take(arrays.spectrum_flagged, extents.stride);
  from.take(arrays.spectrum_found, extents.stride);
  from.take(arrays.missing, plan.times * arrays.channel_stride);
  from.take(arrays.flags, plan.times * arrays.channel_stride);
  from.take(arrays.row, plan.channels);
  from.take(arrays.full_times, plan.times);
  from.take(arrays.full_channels, plan.channels);
  from.take(arrays.smooth, plan.times * extents.part);
  from.take(arrays.weight, plan.times * extents.part);
  from.take(arrays.line.values, extents.longest);
  from.take(arrays.line.weights, extents.longest);
  from.take(arrays.smoothed.values, extents.longest);
  from.take(arrays.smoothed.weights, extents.longest);
  from.take(arrays.line_values, extents.longest);
  from.take(arrays.threshold.sums, extents.longest);
  from.take(arrays.threshold.partial, extents.longest);
  from.take(arrays.threshold.positive, extents.longest);
  from.take(arrays.threshold.negative, extents.longest);
  return from.used();
}

}  // namespace
}  // namespace tune::operations
