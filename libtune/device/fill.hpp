// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The common part of the backends for fill.kernel, whose kernels do the fills that drivers cannot.
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

/// The longest pattern: every device accepts this size as a kernel's argument.
inline constexpr std::size_t max_pattern_bytes = 256;

/// True if a region has no bytes.
constexpr bool is_empty(const fill_region& region) noexcept {
  return region.row_bytes == 0 || region.rows == 0 || region.slices == 0;
}

/// True if a region is one run of bytes.
constexpr bool is_linear(const fill_region& region) noexcept {
  return region.rows == 1 && region.slices == 1;
}

/// True if offset, pitches and rows of a region are multiples of a word of this many bytes.
constexpr bool is_counted_in(std::size_t word_bytes, const fill_region& region) noexcept {
  return region.offset_bytes % word_bytes == 0 && region.row_bytes % word_bytes == 0 &&
         (region.rows == 1 || region.row_pitch_bytes % word_bytes == 0) &&
         (region.slices == 1 || region.slice_pitch_bytes % word_bytes == 0);
}

/// True if a non-empty region lies within this many bytes. Works for all sizes.
bool fits(const fill_region& region, std::size_t bytes) noexcept;

/// True if rows or slices of a non-empty region that fits have bytes in common.
bool overlaps_itself(const fill_region& region) noexcept;

/// "2 x 3 rows of 16 bytes (128 and 32 bytes apart) at 64".
std::string to_text(const fill_region& region);

/// Checks the arguments of a fill. @throws argument_error with the reason
void check_fill(const fill_region& region, std::size_t pattern_bytes, std::size_t buffer_bytes);

/// Returns the same bytes with the smallest number of slices and rows: those without gaps are
/// merged. A pattern that divides each row continues through the next.
fill_region merged(fill_region region) noexcept;

/// Returns the shortest equivalent pattern.
std::span<const std::byte> shortest(std::span<const std::byte> pattern) noexcept;

/// The sizes of the words that the kernels write, in bytes, and the kernels' names.
inline constexpr std::array<std::size_t, 5> fill_word_bytes{1, 2, 4, 8, 16};
inline constexpr std::array<const char*, 5> fill_kernel_names{"fill_1", "fill_2", "fill_4",
                                                              "fill_8", "fill_16"};

/// The text of the kernels, in the common part of OpenCL C and CUDA C++. It expects KERNEL, GLOBAL,
/// uchar to ulong, uint4, get_global_id and get_global_size.
std::string_view fill_kernel_text() noexcept;

/// A fill in the form that its kernel needs, counted in words.
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

/// Returns the task of a fill, in the widest possible words.
/// @param region   not empty; the start of its memory is aligned for every word
/// @param pattern  of 1 to max_pattern_bytes, which divides each row
fill_task make_fill_task(const fill_region& region, std::span<const std::byte> pattern) noexcept;

/// Returns the range to launch a task with.
nd_range fill_range(const fill_task& task, const device_limits& limits) noexcept;

}  // namespace tune::detail
