// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Memory for the events of one queue, so that a pipeline which makes events and drops them
/// allocates nothing. There is room for as many as it has blocks; events beyond that come from the
/// heap. Takes no lock. Thread-safe, for the last handle of an event may go on any thread.
class event_memory {
 public:
  static constexpr std::size_t blocks = 64;
  static constexpr std::size_t block_bytes = 192;

  /// A block for so many bytes, or null if all are in use or too small.
  void* take(std::size_t bytes) noexcept;
  /// Whether it was one of the blocks, which then is free again.
  bool give_back(void* memory) noexcept;

 private:
  struct alignas(std::max_align_t) block {
    std::byte bytes[block_bytes];  // NOLINT(modernize-avoid-c-arrays)
  };

  std::array<block, blocks> memory_;
  std::array<std::atomic<bool>, blocks> in_use_{};
  std::atomic<std::size_t> next_{0};  // where to look first
};

/// What std::allocate_shared takes; each event keeps the memory that it lies in.
template <class T>
class event_allocator {
 public:
  using value_type = T;

  explicit event_allocator(std::shared_ptr<event_memory> memory) noexcept
      : memory_(std::move(memory)) {}
  template <class Other>
  event_allocator(const event_allocator<Other>& other) noexcept : memory_(other.memory()) {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    void* taken = memory_->take(count * sizeof(T));
    return static_cast<T*>(taken != nullptr ? taken : ::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    if (!memory_->give_back(memory)) ::operator delete(memory);
  }

  const std::shared_ptr<event_memory>& memory() const noexcept { return memory_; }

  template <class Other>
  friend bool operator==(const event_allocator& a, const event_allocator<Other>& b) noexcept {
    return a.memory() == b.memory();
  }

 private:
  std::shared_ptr<event_memory> memory_;
};

/// An event in such memory.
template <class Event, class... Arguments>
std::shared_ptr<Event> make_event(const std::shared_ptr<event_memory>& memory,
                                  Arguments&&... arguments) {
  return std::allocate_shared<Event>(event_allocator<Event>(memory),
                                     std::forward<Arguments>(arguments)...);
}

}  // namespace tune::detail
