// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/device_array.hpp"

#include <string>
#include <utility>

#include "libtune/array/copy_plan.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/interface.hpp"

namespace tune {
namespace {

void check_same(const array_layout& a, const array_layout& b) {
  if (a.type() != b.type()) {
    throw type_error("elements of type " + std::string(a.type().name()) + " cannot be copied to " +
                     std::string(b.type().name()));
  }
  if (a.size() != b.size()) {
    throw argument_error("an array of shape " + to_string(a.size()) +
                         " cannot be copied to one of " + to_string(b.size()));
  }
}

detail::copy_side device_side(const buffer& buffer) { return {.buffer = buffer.impl().get()}; }

void enqueue(command_queue& queue, const array_layout& from, const array_layout& to,
             detail::copy_request request) {
  for_each_rectangle(from, to, [&](const copy_rectangle& part) {
    request.source.offset_bytes = part.source_offset_bytes;
    request.source.row_pitch_bytes = part.source_row_pitch_bytes;
    request.source.slice_pitch_bytes = part.source_slice_pitch_bytes;
    request.destination.offset_bytes = part.destination_offset_bytes;
    request.destination.row_pitch_bytes = part.destination_row_pitch_bytes;
    request.destination.slice_pitch_bytes = part.destination_slice_pitch_bytes;
    request.row_bytes = part.row_bytes;
    request.rows = part.rows;
    request.slices = part.slices;
    queue.impl()->copy(request);
  });
}

}  // namespace

// A buffer cannot be empty, an array can.
device_array::device_array(const context& context, const array_layout& layout)
    : buffer_(context.create_buffer(layout.bytes() == 0 ? 1 : layout.bytes())), layout_(layout) {}

device_array::device_array(tune::buffer buffer, const array_layout& layout)
    : buffer_(std::move(buffer)), layout_(layout) {
  if (buffer_.size_bytes() < layout.bytes()) {
    throw argument_error("an array of " + std::to_string(layout.bytes()) +
                         " bytes does not fit in a buffer of " +
                         std::to_string(buffer_.size_bytes()));
  }
}

void device_array::zero(command_queue& queue) const {
  if (layout_.bytes() > 0) queue.zero(buffer_, layout_.bytes());
}

void device_array::copy_from(command_queue& queue, const device_array& source) const {
  check_same(source.layout_, layout_);
  enqueue(queue, source.layout_, layout_,
          {.source = device_side(source.buffer_),
           .destination = device_side(buffer_),
           .blocking = false});
}

void device_array::copy_from_host(command_queue& queue, const array_layout& layout,
                                  const void* source, bool blocking) const {
  check_same(layout, layout_);
  // A source is never written; a request has one kind of side for both directions.
  enqueue(queue, layout, layout_,
          {.source = {.host = const_cast<void*>(source)},  // NOLINT
           .destination = device_side(buffer_),
           .blocking = blocking});
}

void device_array::copy_to_host(command_queue& queue, const array_layout& layout, void* destination,
                                bool blocking) const {
  check_same(layout_, layout);
  enqueue(
      queue, layout_, layout,
      {.source = device_side(buffer_), .destination = {.host = destination}, .blocking = blocking});
}

}  // namespace tune
