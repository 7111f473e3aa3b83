// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The commands that copy and fill regions of arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libtune/array/layout.hpp"
#include "libtune/array/region.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::detail {

/// The rectangles that a copy may use.
enum class copy_pitches : std::uint8_t {
  any,
  equal  ///< with the same pitches on both sides, as drivers require within one buffer
};

/// The rectangles of a copy between two regions of the same shape and type (not checked). They are
/// few, because neighbouring axes are merged if both sides are contiguous, and the longest
/// remaining axes become the rectangle's. They touch no padding, and do not overlap. A copy with a
/// step along the fastest axis has rows of one element. A value that allocates nothing.
class copy_plan {
 public:
  copy_plan(const strided_layout& source, const strided_layout& destination,
            copy_pitches pitches = copy_pitches::any) noexcept;

  /// The number of rectangles; 0 if there are no elements.
  std::size_t size() const noexcept { return size_; }
  /// One rectangle, with its place on both sides; the caller fills in the memory. Not checked.
  copy_request operator[](std::size_t n) const noexcept;

 private:
  struct axis {
    std::size_t extent = 1;
    std::size_t source_stride = 0;
    std::size_t destination_stride = 0;
  };

  std::size_t merge(const strided_layout& source, const strided_layout& destination) noexcept;
  axis take_longest(copy_pitches pitches) noexcept;

  copy_request first_;
  std::array<axis, shape::max_rank> loops_{};  // over the rectangles, the fastest first
  std::size_t loop_count_ = 0;
  std::size_t size_ = 0;
};

/// Enqueues a copy between two regions of the same shape and type (not checked); the sides only
/// name the memory. Allocates nothing. A blocking copy waits once, even if it has several commands,
/// and also before it throws, so that the host memory is never used after the return.
void enqueue_copy(command_queue& queue, const copy_side& source, const strided_layout& from,
                  const copy_side& destination, const strided_layout& to, bool blocking);

/// Enqueues filling the elements of a region with a pattern. See command_queue::fill.
void enqueue_fill(command_queue& queue, const buffer& buffer, const strided_layout& selected,
                  std::span<const std::byte> pattern);

}  // namespace tune::detail
