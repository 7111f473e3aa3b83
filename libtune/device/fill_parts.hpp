// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "libtune/device/buffer.hpp"

namespace tune::detail {

/// As long as a pattern may be: what every device takes as a kernel's argument.
inline constexpr std::size_t max_pattern_bytes = 256;

/// Whether a region has no bytes.
constexpr bool is_empty(const fill_region& region) noexcept {
  return region.row_bytes == 0 || region.rows == 0 || region.slices == 0;
}

/// Whether a region is one run of bytes.
constexpr bool is_linear(const fill_region& region) noexcept {
  return region.rows == 1 && region.slices == 1;
}

/// Whether offset, pitches and rows of a region are whole numbers of words of so many bytes.
constexpr bool is_counted_in(std::size_t word_bytes, const fill_region& region) noexcept {
  return region.offset_bytes % word_bytes == 0 && region.row_bytes % word_bytes == 0 &&
         (region.rows == 1 || region.row_pitch_bytes % word_bytes == 0) &&
         (region.slices == 1 || region.slice_pitch_bytes % word_bytes == 0);
}

/// Whether a region lies within so many bytes. It is not empty. No size is too large to be asked
/// for.
bool fits(const fill_region& region, std::size_t bytes) noexcept;

/// "2 x 3 rows of 16 bytes (128 and 32 bytes apart) at 64".
std::string to_text(const fill_region& region);

/// Checks what a caller asks for. @throws argument_error that says what is wrong with it
void check_fill(const fill_region& region, std::size_t pattern_bytes, std::size_t buffer_bytes);

/// The same bytes in as few slices and rows as can be: what has no gap in between becomes one. A
/// pattern that divides each row goes on through the next.
fill_region merged(fill_region region) noexcept;

/// The shortest pattern that means the same.
std::span<const std::byte> shortest(std::span<const std::byte> pattern) noexcept;

}  // namespace tune::detail
