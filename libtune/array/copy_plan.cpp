// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <algorithm>
#include <utility>

namespace tune {

copy_plan::copy_plan(const strided_layout& source, const strided_layout& destination,
                     copy_pitches pitches) noexcept {
  if (source.size().elements() == 0) return;
  const std::size_t row_bytes = merge(source, destination);
  axis rows = take_longest(pitches);
  axis slices = take_longest(pitches);
  if (slices.extent > 1 && slices.source_stride < rows.source_stride) std::swap(rows, slices);
  first_ = {.source_offset_bytes = source.offset_bytes(),
            .source_row_pitch_bytes = rows.source_stride,
            .source_slice_pitch_bytes = slices.source_stride,
            .destination_offset_bytes = destination.offset_bytes(),
            .destination_row_pitch_bytes = rows.destination_stride,
            .destination_slice_pitch_bytes = slices.destination_stride,
            .row_bytes = row_bytes,
            .rows = rows.extent,
            .slices = slices.extent};
  size_ = 1;
  for (std::size_t i = 0; i < loop_count_; ++i) size_ *= loops_[i].extent;
}

copy_rectangle copy_plan::operator[](std::size_t n) const noexcept {
  copy_rectangle part = first_;
  for (std::size_t i = 0; i < loop_count_; ++i) {
    const std::size_t index = n % loops_[i].extent;
    n /= loops_[i].extent;
    part.source_offset_bytes += index * loops_[i].source_stride;
    part.destination_offset_bytes += index * loops_[i].destination_stride;
  }
  return part;
}

// Returns what one row has. Any other axis that cannot be merged with the one before is looped
// over.
std::size_t copy_plan::merge(const strided_layout& source,
                             const strided_layout& destination) noexcept {
  axis bytes{source.type().bytes(), 1, 1};
  for (std::size_t i = source.size().rank(); i-- > 0;) {
    const axis next{source.size()[i], source.stride_bytes(i), destination.stride_bytes(i)};
    if (next.extent == 1) continue;
    axis& inner = loop_count_ == 0 ? bytes : loops_[loop_count_ - 1];
    if (next.source_stride == inner.extent * inner.source_stride &&
        next.destination_stride == inner.extent * inner.destination_stride) {
      inner.extent *= next.extent;
    } else {
      loops_[loop_count_++] = next;
    }
  }
  return bytes.extent;
}

copy_plan::axis copy_plan::take_longest(copy_pitches pitches) noexcept {
  const auto end = loops_.begin() + static_cast<std::ptrdiff_t>(loop_count_);
  auto longest = end;
  for (auto it = loops_.begin(); it != end; ++it) {
    const bool may_be_taken =
        pitches == copy_pitches::any || it->source_stride == it->destination_stride;
    if (may_be_taken && (longest == end || it->extent > longest->extent)) longest = it;
  }
  if (longest == end) return {};
  const axis taken = *longest;
  std::move(longest + 1, end, longest);
  --loop_count_;
  return taken;
}

}  // namespace tune
