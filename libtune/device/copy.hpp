// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of the copies that users request, before they become requests to a queue.
#pragma once

#include <cstddef>

#include "libtune/device/buffer.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::detail {

/// One side of a copy, for the checks and their messages.
struct copy_memory {
  const char* name = "";  ///< "buffer" or "host memory"
  std::size_t bytes = 0;  ///< the size of all of it
};

/// Returns the request for a region, with all pitches filled in; the caller adds buffers and host
/// memory.
/// @throws argument_error if a side leaves its memory, or rows or slices overlap on a side
copy_request make_copy_request(const copy_region& region, const copy_memory& source,
                               const copy_memory& destination);

/// True if source and destination, in the same memory, have a byte in common.
bool overlaps(const copy_request& request) noexcept;

/// True if both sides have the same pitches, as drivers require within one buffer.
bool has_equal_pitches(const copy_request& request) noexcept;

/// Calls visit(row) with a copy of each row.
template <class Visitor>
void for_each_row(const copy_request& request, Visitor&& visit) {
  for (std::size_t n = 0; n < request.slices; ++n) {
    copy_request row = nth_slice(request, n);
    for (std::size_t i = 0; i < request.rows; ++i) {
      row.rows = 1;
      visit(row);
      row.source.offset_bytes += request.source.row_pitch_bytes;
      row.destination.offset_bytes += request.destination.row_pitch_bytes;
    }
  }
}

}  // namespace tune::detail
