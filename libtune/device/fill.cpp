// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/fill.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "libtune/base/error.hpp"

#include "fill.kernel.hpp"

namespace tune::detail {
namespace {

// Enough work items to hide the latency of stores, and few enough for any device.
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

// Only subtracts and divides, to avoid overflow.
bool fits(const fill_region& region, std::size_t bytes) noexcept {
  if (region.offset_bytes > bytes || region.row_bytes > bytes - region.offset_bytes) return false;
  std::size_t room = bytes - region.offset_bytes - region.row_bytes;
  const auto step = [&room](std::size_t steps, std::size_t pitch) {
    if (steps > 0 && pitch > room / steps) return false;
    room -= steps * pitch;
    return true;
  };
  return step(region.rows - 1, region.row_pitch_bytes) &&
         step(region.slices - 1, region.slice_pitch_bytes);
}

bool overlaps_itself(const fill_region& region) noexcept {
  if (region.rows > 1 && region.row_pitch_bytes < region.row_bytes) return true;
  const std::size_t slice_bytes = (region.rows - 1) * region.row_pitch_bytes + region.row_bytes;
  return region.slices > 1 && region.slice_pitch_bytes < slice_bytes;
}

std::string to_text(const fill_region& region) {
  std::string text = fmt::format("{} bytes", region.row_bytes);
  if (!is_linear(region)) {
    text = fmt::format("{} x {} rows of {} ({} and {} bytes apart)", region.slices, region.rows,
                       text, region.slice_pitch_bytes, region.row_pitch_bytes);
  }
  return fmt::format("{} at {}", text, region.offset_bytes);
}

void check_fill(const fill_region& region, std::size_t pattern_bytes, std::size_t buffer_bytes) {
  if (pattern_bytes == 0 || pattern_bytes > max_pattern_bytes ||
      region.row_bytes % pattern_bytes != 0) {
    throw argument_error(
        fmt::format("a fill pattern has 1 to {} bytes and divides each row, not {} bytes for {}",
                    max_pattern_bytes, pattern_bytes, to_text(region)));
  }
  if (is_empty(region) ? region.offset_bytes > buffer_bytes : !fits(region, buffer_bytes)) {
    throw argument_error(
        fmt::format("a fill of {} leaves the buffer of {} bytes", to_text(region), buffer_bytes));
  }
  if (!is_empty(region) && overlaps_itself(region)) {
    throw argument_error(
        fmt::format("the rows or slices of a fill overlap: {}; a pitch is at least the size of "
                    "what it steps over",
                    to_text(region)));
  }
}

fill_region merged(fill_region region) noexcept {
  for (int axis = 0; axis < 2; ++axis) {
    if (region.rows > 1 && region.row_pitch_bytes != region.row_bytes) break;
    region.row_bytes *= region.rows;
    region.rows = std::exchange(region.slices, 1);
    region.row_pitch_bytes = region.slice_pitch_bytes;
  }
  if (region.slices > 1 && region.slice_pitch_bytes == region.rows * region.row_pitch_bytes) {
    region.rows *= std::exchange(region.slices, 1);
  }
  return region;
}

std::span<const std::byte> shortest(std::span<const std::byte> pattern) noexcept {
  for (std::size_t size = 1; size <= pattern.size() / 2; ++size) {
    if (pattern.size() % size == 0 &&
        std::equal(pattern.begin() + static_cast<std::ptrdiff_t>(size), pattern.end(),
                   pattern.begin())) {
      return pattern.first(size);
    }
  }
  return pattern;
}

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
