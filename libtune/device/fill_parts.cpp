// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/fill_parts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

// Of a region that fits.
bool overlaps_itself(const fill_region& region) noexcept {
  if (region.rows > 1 && region.row_pitch_bytes < region.row_bytes) return true;
  const std::size_t slice_bytes = (region.rows - 1) * region.row_pitch_bytes + region.row_bytes;
  return region.slices > 1 && region.slice_pitch_bytes < slice_bytes;
}

}  // namespace

// Subtracts and divides only, so that no size is too large for it.
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
    throw argument_error(fmt::format(
        "the rows or slices of a fill overlap: {}; a pitch is no less than what it steps over",
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

}  // namespace tune::detail
