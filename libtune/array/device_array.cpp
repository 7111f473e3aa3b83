// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/device_array.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "libtune/array/allocator.hpp"
#include "libtune/array/copy_plan.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/interface.hpp"

namespace tune {
namespace {

// A buffer must not be empty, but an array may be.
std::size_t buffer_bytes(const array_layout& layout) {
  return std::max<std::size_t>(layout.bytes(), 1);
}

void check_type(element_type from, element_type to) {
  if (from == to) return;
  throw type_error("elements of type " + std::string(from.name()) + " cannot be copied to " +
                   std::string(to.name()));
}

void check_value(element_type value, element_type array) {
  if (value == array) return;
  throw type_error("an array of " + std::string(array.name()) +
                   " cannot be filled with a value of type " + std::string(value.name()));
}

void check_same(const array_layout& a, const array_layout& b) {
  check_type(a.type(), b.type());
  if (a.size() != b.size()) {
    throw argument_error("an array of shape " + to_string(a.size()) +
                         " cannot be copied to one of " + to_string(b.size()));
  }
}

void check_same(const strided_layout& from, const strided_layout& to) {
  check_type(from.type(), to.type());
  if (from.size() != to.size()) {
    throw argument_error("a region of shape " + to_string(from.size()) +
                         " cannot be copied to one of " + to_string(to.size()));
  }
}

detail::copy_side device_side(const buffer& buffer) { return {.buffer = buffer.impl().get()}; }

// Never written as a source. A request has the same type of side for both directions.
detail::copy_side host_side(const void* data) {
  return {.host = const_cast<void*>(data)};  // NOLINT
}

}  // namespace

device_array::device_array(const tune::context& context, const array_layout& layout)
    : buffer_(context.create_buffer(buffer_bytes(layout))), layout_(layout) {}

device_array::device_array(allocator& memory, const array_layout& layout)
    : buffer_(memory.allocate(buffer_bytes(layout))), layout_(layout) {}

device_array::device_array(tune::buffer buffer, const array_layout& layout)
    : buffer_(std::move(buffer)), layout_(layout) {
  if (buffer_.size_bytes() < layout.bytes()) {
    throw argument_error("an array of " + std::to_string(layout.bytes()) +
                         " bytes does not fit in a buffer of " +
                         std::to_string(buffer_.size_bytes()));
  }
}

context device_array::context() const { return tune::context(buffer_.impl()->context()); }

void device_array::check_alike(const array_layout& host) const { check_same(host, layout_); }

void device_array::zero(command_queue& queue) const {
  if (layout_.bytes() > 0) queue.zero(buffer_, layout_.bytes());
}

void device_array::zero_region(command_queue& queue, const region& selected) const {
  constexpr std::byte zero{0};
  detail::enqueue_fill(queue, buffer_, {layout_, selected}, std::span(&zero, 1));
}

void device_array::fill_bytes(command_queue& queue, element_type type,
                              std::span<const std::byte> value) const {
  check_value(type, layout_.type());
  if (layout_.bytes() > 0) queue.fill(buffer_, layout_.bytes(), value);
}

void device_array::fill_region_bytes(command_queue& queue, const region& selected,
                                     element_type type, std::span<const std::byte> value) const {
  check_value(type, layout_.type());
  detail::enqueue_fill(queue, buffer_, {layout_, selected}, value);
}

void device_array::copy_from(command_queue& queue, const device_array& source) const {
  check_same(source.layout_, layout_);
  detail::enqueue_copy(queue, device_side(source.buffer_), source.layout_, device_side(buffer_),
                       layout_, false);
}

void device_array::copy_region(command_queue& queue, const region& own, const device_array& source,
                               const region& source_region) const {
  const strided_layout from(source.layout_, source_region);
  const strided_layout to(layout_, own);
  check_same(from, to);
  detail::enqueue_copy(queue, device_side(source.buffer_), from, device_side(buffer_), to, false);
}

void device_array::copy_from_host(command_queue& queue, const array_layout& layout,
                                  const void* source, bool blocking) const {
  check_same(layout, layout_);
  detail::enqueue_copy(queue, host_side(source), layout, device_side(buffer_), layout_, blocking);
}

void device_array::copy_from_host(command_queue& queue, const region& own,
                                  const strided_layout& from, const void* source,
                                  bool blocking) const {
  const strided_layout to(layout_, own);
  check_same(from, to);
  detail::enqueue_copy(queue, host_side(source), from, device_side(buffer_), to, blocking);
}

void device_array::copy_to_host(command_queue& queue, const array_layout& layout, void* destination,
                                bool blocking) const {
  check_same(layout_, layout);
  detail::enqueue_copy(queue, device_side(buffer_), layout_, host_side(destination), layout,
                       blocking);
}

void device_array::copy_to_host(command_queue& queue, const region& own, const strided_layout& to,
                                void* destination, bool blocking) const {
  const strided_layout from(layout_, own);
  check_same(from, to);
  detail::enqueue_copy(queue, device_side(buffer_), from, host_side(destination), to, blocking);
}

}  // namespace tune
