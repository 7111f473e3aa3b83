// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/guarded_memory.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {
namespace {

std::size_t aligned(const context& context, std::size_t bytes) {
  const device owner = context.device();
  return round_up(std::max<std::size_t>(bytes, 1), owner.limits().buffer_alignment_bytes);
}

/// @param unit_bytes  the size of the units that are counted
/// @param distance    returns the distance in bytes of a byte of the band from the array, given its
///                    place in the band
template <class Distance>
std::optional<stray_write> find_in(std::span<const std::byte> band, std::byte pattern,
                                   std::size_t unit_bytes, Distance distance) {
  std::optional<stray_write> found;
  std::size_t last = 0;
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (band[i] == pattern) continue;
    const std::size_t away = distance(i) / unit_bytes;
    if (!found) {
      found = {.nearest = away, .farthest = away, .band = band.size() / unit_bytes};
    } else if (away == last) {
      continue;
    }
    found->nearest = std::min(found->nearest, away);
    found->farthest = std::max(found->farthest, away);
    ++found->count;
    last = away;
  }
  return found;
}

}  // namespace

std::string stray_write::describe() const {
  const char* const unit = in_elements ? "element" : "byte";
  // The unit next to the array is 1 past the end, or -1.
  const std::size_t near = nearest + 1;
  const std::size_t far = farthest + 1;
  const auto place = [&](std::size_t away) {
    return behind ? std::to_string(end + away - 1) : "-" + std::to_string(away);
  };
  const char* const side = behind ? "past the end" : "before the begin";
  const char* const edge = far >= band ? ", or farther" : "";
  if (count == 1)
    return fmt::format("{} {}, {} {}, was written{}", unit, place(near), near, side, edge);
  const std::string all = count == far - near + 1 ? "" : std::to_string(count) + " ";
  return fmt::format("{}{}s {}{} to {}, {} to {} {}, were written{}", all, unit,
                     all.empty() ? "" : "from ", place(behind ? near : far),
                     place(behind ? far : near), near, far, side, edge);
}

guarded_memory::guarded_memory(const context& context, std::size_t bytes, std::size_t band_bytes,
                               std::size_t shift_bytes)
    : band_(aligned(context, band_bytes)),
      shift_(shift_bytes),
      whole_(context.create_buffer(band_ + shift_ + std::max<std::size_t>(bytes, 1) + band_)),
      memory_(context.create_sub_buffer(whole_, band_, std::max<std::size_t>(bytes, 1))),
      begin_(band_) {
  if (shift_ == 0) return;
  shifted_ = buffer(
      context.impl()->create_part(whole_.impl(), band_ + shift_, std::max<std::size_t>(bytes, 1)));
}

void guarded_memory::arm(command_queue& queue, std::size_t used_bytes, std::byte pattern,
                         bool is_shifted) {
  begin_ = band_ + (is_shifted ? shift_ : 0);
  queue.fill(whole_, begin_, std::span(&pattern, 1));
  queue.fill(whole_, band_, std::span(&pattern, 1), begin_ + used_bytes);
  used_ = used_bytes;
  pattern_ = pattern;
}

std::optional<stray_write> guarded_memory::find_stray_write(command_queue& queue,
                                                            std::size_t element_bytes) const {
  if (!used_) return std::nullopt;
  std::vector<std::byte> bytes(begin_ + band_);
  const auto [before, behind] =
      std::pair(std::span(bytes).first(begin_), std::span(bytes).last(band_));
  queue.read(whole_, before.data(), begin_, 0, false);
  queue.read(whole_, behind.data(), band_, begin_ + *used_, false);
  queue.finish();
  const std::size_t unit = std::max<std::size_t>(element_bytes, 1);
  auto found = find_in(behind, pattern_, unit, [](std::size_t i) { return i; });
  const bool is_behind = found.has_value();
  if (!found) {
    found = find_in(before, pattern_, unit, [&](std::size_t i) { return begin_ - 1 - i; });
  }
  if (!found) return std::nullopt;
  found->behind = is_behind;
  found->in_elements = element_bytes != 0;
  found->end = *used_ / unit;
  return found;
}

}  // namespace tune
