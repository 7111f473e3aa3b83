// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/cache_flush.hpp"

#include <algorithm>
#include <mutex>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"

namespace tune::detail {
namespace {

// What a context remembers. Weak, for the memory keeps its context alive.
struct shared_memory {
  mutable std::mutex mutex;
  mutable std::weak_ptr<const buffer> memory;
};

std::shared_ptr<const buffer> share_memory(const context& of) {
  auto shared = of.attachment<shared_memory>();
  if (!shared) {
    // Two threads may both get here; then each has memory of its own, which is merely more of it.
    shared = std::make_shared<const shared_memory>();
    of.attach(shared);
  }
  const std::lock_guard lock(shared->mutex);
  auto memory = shared->memory.lock();
  if (!memory) {
    memory = std::make_shared<const buffer>(of.create_buffer(flush_bytes(of.device().limits())));
    shared->memory = memory;
  }
  return memory;
}

}  // namespace

std::size_t flush_bytes(const device_limits& limits) noexcept {
  constexpr std::size_t usual = std::size_t{256} << 20;
  std::size_t bytes = limits.cache_bytes > 0 ? 2 * limits.cache_bytes : usual;
  if (limits.max_allocation_bytes > 0) bytes = std::min(bytes, limits.max_allocation_bytes);
  if (limits.global_memory_bytes > 0) bytes = std::min(bytes, limits.global_memory_bytes / 8);
  return std::max<std::size_t>(bytes, 1);
}

cache_flush::cache_flush(const command_queue& queue)
    : queue_(queue), memory_(share_memory(queue.context())) {}

void cache_flush::enqueue() { queue_.zero(*memory_, memory_->size_bytes()); }

}  // namespace tune::detail
