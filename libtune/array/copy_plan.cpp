// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/copy_plan.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tune {
namespace {

struct axis {
  std::size_t extent = 1;
  std::size_t source_stride = 0;
  std::size_t destination_stride = 0;
};

/// The axes of a copy, fastest first, the first one counted in bytes.
struct merged_axes {
  std::array<axis, shape::max_rank + 1> items{};
  std::size_t count = 0;
};

merged_axes merge(const array_layout& source, const array_layout& destination) {
  merged_axes merged;
  merged.items[merged.count++] = {source.element_bytes(), 1, 1};
  for (std::size_t i = source.size().rank(); i-- > 0;) {
    const axis next{source.size()[i], source.stride_bytes(i), destination.stride_bytes(i)};
    axis& inner = merged.items[merged.count - 1];
    const bool contiguous = next.source_stride == inner.extent * inner.source_stride &&
                            next.destination_stride == inner.extent * inner.destination_stride;
    if (next.extent == 1) continue;
    if (contiguous) {
      inner.extent *= next.extent;
    } else {
      merged.items[merged.count++] = next;
    }
  }
  return merged;
}

void visit_outer(std::span<const axis> outer, copy_rectangle part,
                 const std::function<void(const copy_rectangle&)>& visit) {
  if (outer.empty()) {
    visit(part);
    return;
  }
  const axis& slowest = outer.back();
  for (std::size_t i = 0; i < slowest.extent; ++i) {
    visit_outer(outer.first(outer.size() - 1), part, visit);
    part.source_offset_bytes += slowest.source_stride;
    part.destination_offset_bytes += slowest.destination_stride;
  }
}

}  // namespace

void for_each_rectangle(const array_layout& source, const array_layout& destination,
                        const std::function<void(const copy_rectangle&)>& visit) {
  if (source.size().elements() == 0) return;
  const merged_axes merged = merge(source, destination);
  const axis row = merged.items[0];
  const axis unit{1, row.extent, row.extent};
  const axis rows = merged.count > 1 ? merged.items[1] : unit;
  const axis slices = merged.count > 2 ? merged.items[2]
                                       : axis{1, rows.extent * rows.source_stride,
                                              rows.extent * rows.destination_stride};
  const copy_rectangle part{.source_row_pitch_bytes = rows.source_stride,
                            .source_slice_pitch_bytes = slices.source_stride,
                            .destination_row_pitch_bytes = rows.destination_stride,
                            .destination_slice_pitch_bytes = slices.destination_stride,
                            .row_bytes = row.extent,
                            .rows = rows.extent,
                            .slices = slices.extent};
  const std::size_t inner = std::min<std::size_t>(merged.count, 3);
  visit_outer(std::span(merged.items).subspan(inner, merged.count - inner), part, visit);
}

}  // namespace tune
