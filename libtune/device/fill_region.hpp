// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Part of a buffer: rows of bytes, and slices of rows. Pitches matter only where there are several
/// rows or slices; they are no less than what they step over.
struct fill_region {
  std::size_t offset_bytes = 0;       ///< of the first byte
  std::size_t row_pitch_bytes = 0;    ///< from one row to the next
  std::size_t slice_pitch_bytes = 0;  ///< from one slice to the next
  std::size_t row_bytes = 0;          ///< in each row, without its gap to the next
  std::size_t rows = 1;               ///< in each slice
  std::size_t slices = 1;             ///< in the region
};

}  // namespace tune
