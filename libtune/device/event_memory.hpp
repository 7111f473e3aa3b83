// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace tune::detail {

/// Memory for the events of one queue, so that a pipeline that makes and drops events allocates
/// nothing. It has a fixed number of blocks; further events come from the heap. Takes no lock.
/// Thread-safe, because the last handle of an event may be released on any thread.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): blocks are written when they are taken
class event_memory {
 public:
  static constexpr std::size_t blocks = 64;
  static constexpr std::size_t block_bytes = 192;

  /// Returns a block for this many bytes, or null if all are in use or too small.
  void* take(std::size_t bytes) noexcept;
  /// Frees a block. Returns false if the memory is not one of the blocks.
  bool give_back(void* memory) noexcept;

 private:
  struct alignas(std::max_align_t) block {
    std::byte bytes[block_bytes];  // NOLINT(modernize-avoid-c-arrays)
  };

  std::array<block, blocks> memory_;
  std::array<std::atomic<bool>, blocks> in_use_{};
  std::atomic<std::size_t> next_{0};  // where to search first
};

/// An allocator for std::allocate_shared; each event keeps its memory alive.
template <class T>
class event_allocator {
 public:
  using value_type = T;

  explicit event_allocator(std::shared_ptr<event_memory> memory) noexcept
      : memory_(std::move(memory)) {}
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators of all types convert
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

/// Makes an event in this memory.
template <class Event, class... Arguments>
std::shared_ptr<Event> make_event(const std::shared_ptr<event_memory>& memory,
                                  Arguments&&... arguments) {
  return std::allocate_shared<Event>(event_allocator<Event>(memory),
                                     std::forward<Arguments>(arguments)...);
}

}  // namespace tune::detail
