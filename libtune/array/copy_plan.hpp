// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "libtune/array/layout.hpp"

namespace tune {

/// A block of slices x rows x bytes with its place on both sides, all in bytes.
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

/// Splits a copy between two arrays of one shape and type (not checked), whose paddings may differ,
/// into as few rectangles as it takes: neighbouring axes are merged where both sides are
/// contiguous, and only what remains beyond three dimensions is looped over. The rectangles come in
/// the order of the elements, and touch no padding. An empty array gives none.
void for_each_rectangle(const array_layout& source, const array_layout& destination,
                        const std::function<void(const copy_rectangle&)>& visit);

}  // namespace tune
