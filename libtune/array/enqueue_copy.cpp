// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/enqueue_copy.hpp"

#include "libtune/array/copy_plan.hpp"
#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

void place(copy_request& request, const copy_rectangle& part) noexcept {
  request.source.offset_bytes = part.source_offset_bytes;
  request.source.row_pitch_bytes = part.source_row_pitch_bytes;
  request.source.slice_pitch_bytes = part.source_slice_pitch_bytes;
  request.destination.offset_bytes = part.destination_offset_bytes;
  request.destination.row_pitch_bytes = part.destination_row_pitch_bytes;
  request.destination.slice_pitch_bytes = part.destination_slice_pitch_bytes;
  request.row_bytes = part.row_bytes;
  request.rows = part.rows;
  request.slices = part.slices;
}

void enqueue_all(command_queue& queue, copy_request request, const copy_plan& plan) {
  for (std::size_t n = 0; n < plan.size(); ++n) {
    place(request, plan[n]);
    queue.impl()->copy(request);
  }
}

// What made the copy fail is what the caller has to hear of.
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
  // A blocking write may return once its own memory has been read, which says nothing of others.
  const bool waits_at_end = blocking && plan.size() > 1;
  const copy_request request{
      .source = source, .destination = destination, .blocking = blocking && !waits_at_end};
  try {
    enqueue_all(queue, request, plan);
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
    const copy_rectangle part = plan[n];
    queue.fill(buffer,
               {.offset_bytes = part.source_offset_bytes,
                .row_pitch_bytes = part.source_row_pitch_bytes,
                .slice_pitch_bytes = part.source_slice_pitch_bytes,
                .row_bytes = part.row_bytes,
                .rows = part.rows,
                .slices = part.slices},
               pattern);
  }
}

}  // namespace tune::detail
