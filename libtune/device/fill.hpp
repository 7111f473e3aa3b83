// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the backends share of the kernels in fill.kernel, which fill what their drivers cannot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "libtune/device/buffer.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::detail {

/// As long as a pattern may be: what every device takes as a kernel's argument.
inline constexpr std::size_t max_pattern_bytes = 256;

/// True if a region has no bytes.
constexpr bool is_empty(const fill_region& region) noexcept {
  return region.row_bytes == 0 || region.rows == 0 || region.slices == 0;
}

/// True if a region is one run of bytes.
constexpr bool is_linear(const fill_region& region) noexcept {
  return region.rows == 1 && region.slices == 1;
}

/// True if offset, pitches and rows of a region are whole numbers of words of so many bytes.
constexpr bool is_counted_in(std::size_t word_bytes, const fill_region& region) noexcept {
  return region.offset_bytes % word_bytes == 0 && region.row_bytes % word_bytes == 0 &&
         (region.rows == 1 || region.row_pitch_bytes % word_bytes == 0) &&
         (region.slices == 1 || region.slice_pitch_bytes % word_bytes == 0);
}

/// True if a region lies within so many bytes. It is not empty. No size is too large to be asked
/// for.
bool fits(const fill_region& region, std::size_t bytes) noexcept;

/// True if the rows or slices of a region have bytes in common. It is not empty, and fits.
bool overlaps_itself(const fill_region& region) noexcept;

/// "2 x 3 rows of 16 bytes (128 and 32 bytes apart) at 64".
std::string to_text(const fill_region& region);

/// Checks what a caller asks for. @throws argument_error that says what is wrong with it
void check_fill(const fill_region& region, std::size_t pattern_bytes, std::size_t buffer_bytes);

/// The same bytes in as few slices and rows as can be: what has no gap in between becomes one. A
/// pattern that divides each row goes on through the next.
fill_region merged(fill_region region) noexcept;

/// The shortest pattern that means the same.
std::span<const std::byte> shortest(std::span<const std::byte> pattern) noexcept;

/// The words that the kernels write, in bytes, and the kernels' names.
inline constexpr std::array<std::size_t, 5> fill_word_bytes{1, 2, 4, 8, 16};
inline constexpr std::array<const char*, 5> fill_kernel_names{"fill_1", "fill_2", "fill_4",
                                                              "fill_8", "fill_16"};

/// The text of the kernels, in the words that OpenCL C and CUDA C++ have in common. It expects
/// KERNEL, GLOBAL, uchar to ulong, uint4, get_global_id and get_global_size.
std::string_view fill_kernel_text() noexcept;

/// A fill as its kernel wants it, counted in words.
struct fill_task {
  std::size_t kernel = 0;  ///< into the arrays above
  std::uint64_t first = 0;
  std::uint64_t row_words = 0;
  std::uint64_t rows = 0;
  std::uint64_t slices = 0;
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
  std::uint32_t pattern_words = 0;
  alignas(16) std::array<std::byte, max_pattern_bytes> pattern{};

  std::size_t pattern_bytes() const noexcept { return pattern_words * fill_word_bytes[kernel]; }
};

/// The task of a fill, in the widest words that it can be counted in.
/// @param region   not empty; what its offset is counted from is aligned for every word
/// @param pattern  of 1 to max_pattern_bytes, which divides each row
fill_task make_fill_task(const fill_region& region, std::span<const std::byte> pattern) noexcept;

/// Returns the range to launch a task with.
nd_range fill_range(const fill_task& task, const device_limits& limits) noexcept;

}  // namespace tune::detail
