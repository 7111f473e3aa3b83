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

/// Which rectangles may be copied.
enum class copy_pitches : std::uint8_t {
  any,
  equal  ///< with the same pitches on both sides: what drivers ask for within one buffer
};

/// The rectangles that make up a copy between two regions of one shape and type (not checked): few,
/// since neighbouring axes are merged where both sides are contiguous, and the longest of what
/// remains go into the rectangle. They touch no padding, and do not overlap. A copy with a step
/// along the fastest axis has rows of one element. A value that allocates nothing.
class copy_plan {
 public:
  copy_plan(const strided_layout& source, const strided_layout& destination,
            copy_pitches pitches = copy_pitches::any) noexcept;

  /// The number of rectangles; none if there are no elements.
  std::size_t size() const noexcept { return size_; }
  /// One rectangle, with its place on both sides; the sides' memory is left empty. Not checked.
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

/// Enqueues a copy between two regions of one shape and type (not checked), of which the sides name
/// the memory only. Allocates nothing. A blocking copy waits once, however many commands it takes,
/// and also before it throws, so that the host memory is never used after the return.
void enqueue_copy(command_queue& queue, const copy_side& source, const strided_layout& from,
                  const copy_side& destination, const strided_layout& to, bool blocking);

/// Enqueues filling the elements of a region with a pattern that divides them.
void enqueue_fill(command_queue& queue, const buffer& buffer, const strided_layout& selected,
                  std::span<const std::byte> pattern);

}  // namespace tune::detail
