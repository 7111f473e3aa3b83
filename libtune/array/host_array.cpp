// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/host_array.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tune::detail {
namespace {

std::shared_ptr<void> ordinary(std::size_t bytes) {
  constexpr std::align_val_t alignment{host_memory::alignment};
  return {::operator new(bytes, alignment), [](void* memory) {
            ::operator delete (memory, std::align_val_t{host_memory::alignment});
          }};
}

// Pinned memory cannot be empty, an array can.
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

}  // namespace tune::detail
