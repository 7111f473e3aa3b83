// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <algorithm>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {

copy_plan::copy_plan(const strided_layout& source, const strided_layout& destination,
                     copy_pitches pitches) noexcept {
  if (source.size().elements() == 0) return;
  const std::size_t row_bytes = merge(source, destination);
  axis rows = take_longest(pitches);
  axis slices = take_longest(pitches);
  if (slices.extent > 1 && slices.source_stride < rows.source_stride) std::swap(rows, slices);
  first_ = {.source = {.offset_bytes = source.offset_bytes(),
                       .row_pitch_bytes = rows.source_stride,
                       .slice_pitch_bytes = slices.source_stride},
            .destination = {.offset_bytes = destination.offset_bytes(),
                            .row_pitch_bytes = rows.destination_stride,
                            .slice_pitch_bytes = slices.destination_stride},
            .row_bytes = row_bytes,
            .rows = rows.extent,
            .slices = slices.extent};
  size_ = 1;
  for (std::size_t i = 0; i < loop_count_; ++i) size_ *= loops_[i].extent;
}

copy_request copy_plan::operator[](std::size_t n) const noexcept {
  copy_request part = first_;
  for (std::size_t i = 0; i < loop_count_; ++i) {
    const std::size_t index = n % loops_[i].extent;
    n /= loops_[i].extent;
    part.source.offset_bytes += index * loops_[i].source_stride;
    part.destination.offset_bytes += index * loops_[i].destination_stride;
  }
  return part;
}

// Returns the size of a row in bytes. Every other axis that cannot be merged with the one before
// becomes a loop.
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

namespace {

void enqueue_all(command_queue& queue, const copy_plan& plan, const copy_side& source,
                 const copy_side& destination, bool blocking) {
  for (std::size_t n = 0; n < plan.size(); ++n) {
    copy_request part = plan[n];
    part.source.buffer = source.buffer;
    part.source.host = source.host;
    part.destination.buffer = destination.buffer;
    part.destination.host = destination.host;
    part.blocking = blocking;
    queue.impl()->copy(part);
  }
}

// Ignores errors, because the caller has to see the error of the copy.
void finish_anyhow(command_queue& queue) noexcept {
  try {
    queue.finish();
  } catch (const error&) {
  }
}

}  // namespace

void enqueue_copy(command_queue& queue, const copy_side& source, const strided_layout& from,
                  const copy_side& destination, const strided_layout& to, bool blocking) {
  const bool within_one_buffer = source.buffer != nullptr && source.buffer == destination.buffer;
  const copy_plan plan(from, to, within_one_buffer ? copy_pitches::equal : copy_pitches::any);
  // A blocking write returns when its own memory has been read, whatever the state of earlier ones.
  const bool waits_at_end = blocking && plan.size() > 1;
  try {
    enqueue_all(queue, plan, source, destination, blocking && !waits_at_end);
  } catch (...) {
    if (blocking) finish_anyhow(queue);
    throw;
  }
  if (waits_at_end) queue.finish();
}

void enqueue_fill(command_queue& queue, const buffer& buffer, const strided_layout& selected,
                  std::span<const std::byte> pattern) {
  const copy_plan plan(selected, selected);
  for (std::size_t n = 0; n < plan.size(); ++n) {
    const copy_request part = plan[n];
    queue.fill(buffer,
               {.offset_bytes = part.source.offset_bytes,
                .row_pitch_bytes = part.source.row_pitch_bytes,
                .slice_pitch_bytes = part.source.slice_pitch_bytes,
                .row_bytes = part.row_bytes,
                .rows = part.rows,
                .slices = part.slices},
               pattern);
  }
}

}  // namespace tune::detail
