// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "libtune/array/layout.hpp"
#include "libtune/array/region.hpp"

namespace tune {

/// A block of slices x rows x bytes with its place on both sides, all in bytes. The pitches of a
/// single row or slice do not matter.
struct copy_rectangle {
  std::size_t source_offset_bytes = 0;
  std::size_t source_row_pitch_bytes = 0;
  std::size_t source_slice_pitch_bytes = 0;
  std::size_t destination_offset_bytes = 0;
  std::size_t destination_row_pitch_bytes = 0;
  std::size_t destination_slice_pitch_bytes = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
};

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
  /// Not checked.
  copy_rectangle operator[](std::size_t n) const noexcept;

 private:
  struct axis {
    std::size_t extent = 1;
    std::size_t source_stride = 0;
    std::size_t destination_stride = 0;
  };

  std::size_t merge(const strided_layout& source, const strided_layout& destination) noexcept;
  axis take_longest(copy_pitches pitches) noexcept;

  copy_rectangle first_;
  std::array<axis, shape::max_rank> loops_{};  // over the rectangles, the fastest first
  std::size_t loop_count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tune
