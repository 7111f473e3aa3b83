// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/copy_parts.hpp"

#include <utility>

namespace tune::detail {
namespace {

bool is_regular(const copy_side& side, std::size_t rows) noexcept {
  return side.slice_pitch_bytes % side.row_pitch_bytes == 0 &&
         side.slice_pitch_bytes >= side.row_pitch_bytes * rows;
}

}  // namespace

copy_request without_single_rows(copy_request request) noexcept {
  if (request.rows > 1 || request.slices == 1) return request;
  request.rows = std::exchange(request.slices, 1);
  request.source.row_pitch_bytes = request.source.slice_pitch_bytes;
  request.destination.row_pitch_bytes = request.destination.slice_pitch_bytes;
  return request;
}

bool has_regular_slices(const copy_request& request) noexcept {
  return request.slices == 1 || (request.rows > 1 && is_regular(request.source, request.rows) &&
                                 is_regular(request.destination, request.rows));
}

copy_request nth_slice(copy_request request, std::size_t n) noexcept {
  request.source.offset_bytes += n * request.source.slice_pitch_bytes;
  request.destination.offset_bytes += n * request.destination.slice_pitch_bytes;
  request.slices = 1;
  return request;
}

}  // namespace tune::detail
