// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/host_array.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

std::shared_ptr<void> ordinary(std::size_t bytes) {
  constexpr std::align_val_t alignment{host_memory::alignment};
  return {::operator new(bytes, alignment), [](void* memory) {
            ::operator delete (memory, std::align_val_t{host_memory::alignment});
          }};
}

// Pinned memory must not be empty, but an array may be.
std::shared_ptr<void> pinned(const context& context, std::size_t bytes) {
  auto memory = std::make_shared<pinned_memory>(
      context.create_pinned_memory(std::max<std::size_t>(bytes, 1)));
  void* const data = memory->data();
  return {std::move(memory), data};
}

}  // namespace

host_memory::host_memory(std::size_t bytes) : data_(ordinary(bytes)), bytes_(bytes) {}

host_memory::host_memory(const tune::context& context, std::size_t bytes)
    : context_(context.impl()), data_(pinned(context, bytes)), bytes_(bytes) {}

// Without an owner, which needs no allocation.
host_memory::host_memory(void* wrapped, std::size_t bytes) noexcept
    : data_(std::shared_ptr<void>(), wrapped), bytes_(bytes) {}

host_memory::host_memory(const host_memory& other)
    : context_(other.context_),
      data_(context_ ? pinned(tune::context(context_), other.bytes_) : ordinary(other.bytes_)),
      bytes_(other.bytes_) {
  if (bytes_ > 0) std::memcpy(data_.get(), other.data_.get(), bytes_);
}

host_memory& host_memory::operator=(const host_memory& other) {
  if (this != &other) *this = host_memory(other);
  return *this;
}

void copy_elements(const array_layout& from, const void* source, const array_layout& to,
                   void* destination) noexcept {
  const shape& size = from.size();
  if (size.elements() == 0) return;
  const std::size_t axes = size.rank() == 0 ? 0 : size.rank() - 1;  // without the axis of the rows
  const std::size_t row_bytes = (size.rank() == 0 ? 1 : size[axes]) * from.element_bytes();
  const auto* read = static_cast<const std::byte*>(source);
  auto* write = static_cast<std::byte*>(destination);
  std::array<std::size_t, shape::max_rank> index{};
  for (std::size_t rows = size.elements() * from.element_bytes() / row_bytes; rows > 0; --rows) {
    std::size_t from_offset = 0;
    std::size_t to_offset = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      from_offset += index[axis] * from.stride_bytes(axis);
      to_offset += index[axis] * to.stride_bytes(axis);
    }
    std::memcpy(write + to_offset, read + from_offset, row_bytes);
    for (std::size_t axis = axes; axis > 0 && ++index[axis - 1] == size[axis - 1]; --axis) {
      index[axis - 1] = 0;
    }
  }
}

void check_wrapped(const array_layout& layout, std::size_t elements) {
  if (elements >= layout.padded().elements()) return;
  throw argument_error("an array of the padded shape " + to_string(layout.padded()) + " has " +
                       std::to_string(layout.padded().elements()) +
                       " elements, and the memory to wrap has " + std::to_string(elements));
}

void check_copied(const shape& size, std::size_t elements) {
  if (elements == size.elements()) return;
  throw argument_error("an array of the shape " + to_string(size) + " has " +
                       std::to_string(size.elements()) + " elements, and " +
                       std::to_string(elements) + " are given");
}

}  // namespace tune::detail
