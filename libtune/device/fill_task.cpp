// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/fill_task.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "fill.kernel.hpp"

namespace tune::detail {
namespace {

// Enough to hide what a store takes, and few enough for any device.
constexpr std::size_t group_items = 64;
constexpr work_size most_groups{4096, 1024, 64};

std::size_t widest_kernel(const fill_region& region, std::size_t pattern_bytes) noexcept {
  std::size_t kernel = fill_word_bytes.size() - 1;
  while (kernel > 0 && !(is_counted_in(fill_word_bytes[kernel], region) &&
                         std::lcm(pattern_bytes, fill_word_bytes[kernel]) <= max_pattern_bytes)) {
    --kernel;
  }
  return kernel;
}

}  // namespace

std::string_view fill_kernel_text() noexcept { return embedded::fill_kernel; }

fill_task make_fill_task(const fill_region& region, std::span<const std::byte> pattern) noexcept {
  const std::size_t kernel = widest_kernel(region, pattern.size());
  const std::size_t word = fill_word_bytes[kernel];
  const std::size_t repeated = std::lcm(pattern.size(), word);
  fill_task task{.kernel = kernel,
                 .first = region.offset_bytes / word,
                 .row_words = region.row_bytes / word,
                 .rows = region.rows,
                 .slices = region.slices,
                 .row_pitch = region.row_pitch_bytes / word,
                 .slice_pitch = region.slice_pitch_bytes / word,
                 .pattern_words = static_cast<std::uint32_t>(repeated / word)};
  for (std::size_t at = 0; at < repeated; ++at) task.pattern[at] = pattern[at % pattern.size()];
  return task;
}

nd_range fill_range(const fill_task& task, const device_limits& limits) noexcept {
  const std::size_t items = std::min(group_items, std::bit_floor(limits.max_work_group_size));
  nd_range range;
  const auto row = static_cast<std::size_t>(std::min<std::uint64_t>(task.row_words, group_items));
  range.local.x = std::min(items, std::bit_ceil(row));
  range.local.y = std::min(items / range.local.x, limits.max_work_group_extent[1]);
  const auto extent = [](std::uint64_t count, std::size_t local, std::size_t most) {
    return local * std::min<std::size_t>(divide_up(count, local), most);
  };
  range.global = {extent(task.row_words, range.local.x, most_groups.x),
                  extent(task.rows, range.local.y, most_groups.y),
                  extent(task.slices, 1, most_groups.z)};
  return range;
}

}  // namespace tune::detail
