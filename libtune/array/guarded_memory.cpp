// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/guarded_memory.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/nd_range.hpp"

namespace tune {
namespace {

std::size_t aligned(const context& context, std::size_t bytes) {
  const device owner = context.device();
  return round_up(std::max<std::size_t>(bytes, 1), owner.limits().buffer_alignment_bytes);
}

/// @param distance  of the byte at a place of the band from the array
template <class Distance>
std::optional<stray_write> find_in(std::span<const std::byte> band, std::byte pattern, bool behind,
                                   Distance distance) {
  std::optional<stray_write> found;
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (band[i] == pattern) continue;
    const std::size_t away = distance(i);
    if (!found) {
      found = {.behind = behind,
               .nearest_bytes = away,
               .farthest_bytes = away,
               .band_bytes = band.size()};
    }
    found->nearest_bytes = std::min(found->nearest_bytes, away);
    found->farthest_bytes = std::max(found->farthest_bytes, away);
    ++found->count;
  }
  return found;
}

}  // namespace

std::string stray_write::describe(std::size_t element_bytes) const {
  // Before the begin, the byte that touches the array belongs to element -1.
  const auto place = [&](std::size_t bytes) {
    const std::size_t shown = behind ? bytes : bytes + 1;
    const std::string text = fmt::format("{} bytes", shown);
    if (element_bytes == 0) return text;
    const std::size_t elements = bytes / element_bytes + (behind ? 0 : 1);
    return text + fmt::format(" ({} elements)", elements);
  };
  return fmt::format("{} bytes were written out of bounds, the nearest {} {}, the farthest {}{}",
                     count, place(nearest_bytes), behind ? "behind its end" : "before its begin",
                     place(farthest_bytes),
                     farthest_bytes + 1 >= band_bytes ? ", as far as can be seen" : "");
}

guarded_memory::guarded_memory(const context& context, std::size_t bytes, std::size_t band_bytes)
    : band_(aligned(context, band_bytes)),
      whole_(context.create_buffer(band_ + std::max<std::size_t>(bytes, 1) + band_)),
      memory_(context.create_sub_buffer(whole_, band_, std::max<std::size_t>(bytes, 1))) {}

void guarded_memory::arm(command_queue& queue, std::size_t used_bytes, std::byte pattern) {
  queue.fill(whole_, band_, std::span(&pattern, 1));
  queue.fill(whole_, band_, std::span(&pattern, 1), band_ + used_bytes);
  used_ = used_bytes;
  pattern_ = pattern;
}

std::optional<stray_write> guarded_memory::find_stray_write(command_queue& queue) const {
  if (!used_) return std::nullopt;
  std::vector<std::byte> bytes(2 * band_);
  const auto [before, behind] =
      std::pair(std::span(bytes).first(band_), std::span(bytes).last(band_));
  queue.read(whole_, before.data(), band_, 0, false);
  queue.read(whole_, behind.data(), band_, band_ + *used_, false);
  queue.finish();
  if (auto found = find_in(behind, pattern_, true, [](std::size_t i) { return i; })) return found;
  return find_in(before, pattern_, false, [&](std::size_t i) { return band_ - 1 - i; });
}

}  // namespace tune
