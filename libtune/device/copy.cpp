// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/copy.hpp"

#include <fmt/format.h>
#include <limits>

#include "libtune/base/error.hpp"
#include "libtune/device/fill.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t beyond = std::numeric_limits<std::size_t>::max();

std::size_t product(std::size_t a, std::size_t b) noexcept {
  return b != 0 && a > beyond / b ? beyond : a * b;
}

/// Returns the bytes of one side, in the form of a fill's region.
fill_region filled_in(const copy_region& region, const copy_place& place) noexcept {
  fill_region side{.offset_bytes = place.offset_bytes,
                   .row_pitch_bytes = place.row_pitch_bytes,
                   .slice_pitch_bytes = place.slice_pitch_bytes,
                   .row_bytes = region.row_bytes,
                   .rows = region.rows,
                   .slices = region.slices};
  if (side.row_pitch_bytes == 0) side.row_pitch_bytes = side.row_bytes;
  if (side.slice_pitch_bytes == 0) {
    side.slice_pitch_bytes = product(side.rows, side.row_pitch_bytes);
  }
  return side;
}

fill_region checked(const copy_region& region, const copy_place& place, const char* side_name,
                    const copy_memory& memory) {
  const fill_region side = filled_in(region, place);
  if (is_empty(side)) return side;
  if (!fits(side, memory.bytes)) {
    throw argument_error(fmt::format("the {} of a copy, {}, leaves the {} of {} bytes", side_name,
                                     to_text(side), memory.name, memory.bytes));
  }
  if (overlaps_itself(side)) {
    throw argument_error(
        fmt::format("the rows or slices in the {} of a copy overlap: {}; a pitch is at least the "
                    "size of what it steps over",
                    side_name, to_text(side)));
  }
  return side;
}

copy_side side_of(const fill_region& region) noexcept {
  return {.offset_bytes = region.offset_bytes,
          .row_pitch_bytes = region.row_pitch_bytes,
          .slice_pitch_bytes = region.slice_pitch_bytes};
}

/// Visits the rows of one side of a request, in the order of memory.
class row_walk {
 public:
  row_walk(const copy_request& request, const copy_side& side) noexcept
      : request_(request), side_(side), begin_(side.offset_bytes) {}

  bool has_ended() const noexcept { return slice_ == request_.slices; }
  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return begin_ + request_.row_bytes; }
  void advance() noexcept {
    if (++row_ == request_.rows) {
      row_ = 0;
      ++slice_;
    }
    begin_ = side_.offset_bytes + slice_ * side_.slice_pitch_bytes + row_ * side_.row_pitch_bytes;
  }

 private:
  const copy_request& request_;
  const copy_side& side_;
  std::size_t row_ = 0;
  std::size_t slice_ = 0;
  std::size_t begin_;
};

/// Returns the end of a side.
std::size_t end_of(const copy_request& request, const copy_side& side) noexcept {
  return side.offset_bytes + (request.slices - 1) * side.slice_pitch_bytes +
         (request.rows - 1) * side.row_pitch_bytes + request.row_bytes;
}

}  // namespace

copy_request make_copy_request(const copy_region& region, const copy_memory& source,
                               const copy_memory& destination) {
  return {.source = side_of(checked(region, region.source, "source", source)),
          .destination = side_of(checked(region, region.destination, "destination", destination)),
          .row_bytes = region.row_bytes,
          .rows = region.rows,
          .slices = region.slices,
          .blocking = false};
}

bool overlaps(const copy_request& request) noexcept {
  if (is_empty(request)) return false;
  if (end_of(request, request.source) <= request.destination.offset_bytes ||
      end_of(request, request.destination) <= request.source.offset_bytes) {
    return false;
  }
  row_walk source(request, request.source);
  row_walk destination(request, request.destination);
  while (!source.has_ended() && !destination.has_ended()) {
    if (source.end() <= destination.begin()) {
      source.advance();
    } else if (destination.end() <= source.begin()) {
      destination.advance();
    } else {
      return true;
    }
  }
  return false;
}

bool has_equal_pitches(const copy_request& request) noexcept {
  const copy_side& a = request.source;
  const copy_side& b = request.destination;
  return (request.rows == 1 || a.row_pitch_bytes == b.row_pitch_bytes) &&
         (request.slices == 1 || a.slice_pitch_bytes == b.slice_pitch_bytes);
}

}  // namespace tune::detail
