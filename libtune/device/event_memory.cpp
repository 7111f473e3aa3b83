// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/event_memory.hpp"

#include <cstdint>

namespace tune::detail {

void* event_memory::take(std::size_t bytes) noexcept {
  if (bytes > block_bytes) return nullptr;
  const std::size_t first = next_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t index = (first + i) % blocks;
    if (!in_use_[index].exchange(true, std::memory_order_acquire)) return &memory_[index];
  }
  return nullptr;
}

bool event_memory::give_back(void* memory) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address < start || address >= start + sizeof memory_) return false;
  in_use_[(address - start) / sizeof(block)].store(false, std::memory_order_release);
  return true;
}

}  // namespace tune::detail
