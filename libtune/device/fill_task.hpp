// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the backends share of the kernels in fill.kernel, which fill what their drivers cannot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "libtune/device/device.hpp"
#include "libtune/device/fill_parts.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::detail {

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

/// What to launch it with.
nd_range fill_range(const fill_task& task, const device_limits& limits) noexcept;

}  // namespace tune::detail
