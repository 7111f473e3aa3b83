// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/workload.hpp"

#include <span>

namespace tune {
namespace {

constexpr std::byte poison{0xFF};

}  // namespace

void workload::bind(operation& operation) {
  for (const named_slot& item : operation.slots()) {
    if (item.slot->is_bound()) continue;
    shared_array& shared = arrays_[item.name];
    const std::size_t bytes = item.slot->required_bytes();
    // In use by operations of before, it stays with them.
    if (!shared.memory || shared.memory->size_bytes() < bytes) {
      shared.memory.reset();
      shared.memory = queue_.context().create_buffer(bytes);
    }
    item.slot->bind(*shared.memory);
  }
  restore(operation);
}

void workload::restore(const operation& operation) {
  for (const named_slot& item : operation.slots()) {
    const auto found = arrays_.find(item.name);
    if (found == arrays_.end() || !found->second.memory || !item.slot->is_bound()) continue;
    shared_array& shared = found->second;
    const auto* slot = dynamic_cast<const io_slot*>(item.slot.get());
    if (slot == nullptr) {
      queue_.fill(*shared.memory, item.slot->required_bytes(), std::span(&poison, 1));
    } else if (slot->buffer().buffer() == *shared.memory) {
      fill(shared, slot->buffer());
    }
  }
}

void workload::fill(shared_array& source, const device_array& target) {
  if (!source.upload) {
    queue_.fill(target.buffer(), target.layout().bytes(), std::span(&poison, 1));
    return;
  }
  if (!source.original || source.original->layout() != target.layout()) {
    source.original.reset();
    const device_array original(queue_.context(), target.layout());
    source.upload(queue_, original);
    source.original = original;
  }
  target.copy_from(queue_, *source.original);
}

std::size_t workload::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [name, array] : arrays_) {
    if (array.memory) bytes += array.memory->size_bytes();
    if (array.original) bytes += array.original->layout().bytes();
  }
  return bytes;
}

}  // namespace tune
