// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/frame_writing.hpp"

#include <algorithm>
#include <cstring>

namespace tune::detail {

void frame_writing::write_contents(const planned_slot& planned, const slot_snapshot& from,
                                   captured_slot& made, capture_writer& to) {
  if (planned.before) made.before.emplace();
  if (planned.after) made.after.emplace();
  // Without contents from before, nobody knows if the run wrote the same.
  made.changed = planned.after && !planned.before;
  for (std::size_t offset = 0; offset < from.bytes; offset += capture_chunk_bytes) {
    const std::size_t bytes = std::min(capture_chunk_bytes, from.bytes - offset);
    pace_(bytes * (std::size_t{planned.before} + std::size_t{planned.after}));
    std::span<const std::byte> before;
    if (planned.before) {
      before = from.before.read(queue_, offset, bytes, staging_[0]);
      made.before->chunks.push_back(to.add_chunk(before));
    }
    if (!planned.after) continue;
    const auto after = from.after.read(queue_, offset, bytes, staging_[1]);
    const bool is_same = planned.before && std::memcmp(before.data(), after.data(), bytes) == 0;
    made.changed = made.changed || !is_same;
    made.after->chunks.push_back(is_same ? made.before->chunks.back() : to.add_chunk(after));
  }
  if (!made.changed) made.after.reset();
}

captured_slot frame_writing::write_slot(const planned_slot& planned, const slot_snapshot& from,
                                        const std::vector<planned_slot>& all, capture_writer& to) {
  captured_slot made{.name = planned.name};
  if (from.layout) {
    made.type = from.layout->type().name();
    made.size = from.layout->size();
    made.padded = from.layout->padded();
  }
  made.bytes = from.bytes;
  if (planned.shares) {
    made.shares = all[*planned.shares].name;
  } else {
    write_contents(planned, from, made, to);
  }
  return made;
}

void frame_writing::write(const frame_set& set, captured_frame frame, capture_writer& to) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < set.calls.size(); ++i) {
    if (set.calls[i].is_taken) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return set.calls[i].order; });
  for (const std::size_t i : order) {
    const call_snapshot& call = set.calls[i];
    const planned_point& point = points_[i];
    captured_call made{.name = point.name,
                       .form = *call.form,
                       .function = point.options.function,
                       .key = point.options.key};
    for (std::size_t s = 0; s < point.slots.size(); ++s) {
      made.slots.push_back(write_slot(point.slots[s], call.slots[s], point.slots, to));
    }
    frame.calls.push_back(std::move(made));
  }
  to.add(std::move(frame));
}

}  // namespace tune::detail
