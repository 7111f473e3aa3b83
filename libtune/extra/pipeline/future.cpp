// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/pipeline/future.hpp"

#include <array>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t block_step = 64;
constexpr std::size_t block_sizes = 64;

// The waiters still to be notified by this thread. A notification may end further states, such as a
// line of dropped turns: their waiters are appended to this list, so that the stack does not grow
// with the line.
thread_local future_waiter* waiters_left = nullptr;
thread_local bool is_notifying = false;

struct free_block {
  free_block* next;
};

/// The free blocks of each multiple of block_step bytes.
struct free_blocks {
  std::mutex mutex;
  std::array<free_block*, block_sizes> first{};
};

free_blocks& all_free_blocks() {
  static never_destroyed<free_blocks> blocks;
  return *blocks;
}

std::size_t size_index(std::size_t bytes) noexcept { return (bytes + block_step - 1) / block_step; }

}  // namespace

void* take_recycled(std::size_t bytes) {
  const std::size_t index = size_index(bytes);
  if (index >= block_sizes) return ::operator new(bytes);
  free_blocks& blocks = all_free_blocks();
  {
    const std::lock_guard lock(blocks.mutex);
    if (free_block* block = blocks.first[index]; block != nullptr) {
      blocks.first[index] = block->next;
      return block;
    }
  }
  return ::operator new(index* block_step);
}

void give_back_recycled(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = size_index(bytes);
  if (index >= block_sizes) return ::operator delete(memory);
  free_blocks& blocks = all_free_blocks();
  const std::lock_guard lock(blocks.mutex);
  blocks.first[index] = ::new (memory) free_block{blocks.first[index]};
}

void future_state::wait() {
  if (is_ready()) return;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return is_ready(); });
}

bool future_state::wait_until(std::chrono::steady_clock::time_point deadline) {
  if (is_ready()) return true;
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, deadline, [&] { return is_ready(); });
}

bool future_state::add_waiter(future_waiter& waiter) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_ready()) return false;
  future_waiter** place = &first_;
  while (*place != nullptr) place = &(*place)->next_;
  waiter.next_ = nullptr;
  *place = &waiter;
  return true;
}

bool future_state::remove_waiter(future_waiter& waiter) noexcept {
  const std::lock_guard lock(mutex_);
  for (future_waiter** place = &first_; *place != nullptr; place = &(*place)->next_) {
    if (*place != &waiter) continue;
    *place = waiter.next_;
    return true;
  }
  return false;
}

bool future_state::fail(std::exception_ptr error) noexcept {
  return end([&] { error_ = std::move(error); });
}

bool future_state::end_cancelled() noexcept {
  return end([&] { cancelled_ = true; });
}

void future_state::rethrow_failure() const {
  is_taken_.store(true, std::memory_order_relaxed);
  if (cancelled_) throw cancelled_error("the result was cancelled before it came");
  if (error_ != nullptr) std::rethrow_exception(error_);
}

std::exception_ptr future_state::failure() const noexcept { return is_ready() ? error_ : nullptr; }

void future_state::notify_all(std::unique_lock<std::mutex>& lock) noexcept {
  add_reference();  // a waiter may release the last other reference
  ready_.store(true, std::memory_order_release);
  future_waiter* const own = std::exchange(first_, nullptr);
  // Under the lock, so that no waiting thread can see the end and destroy the state before.
  ended_.notify_all();
  lock.unlock();
  if (own != nullptr) {
    future_waiter* last = own;
    while (last->next_ != nullptr) last = last->next_;
    last->next_ = std::exchange(waiters_left, own);
    notify_left();
  }
  release();
}

void future_state::notify_left() noexcept {
  if (std::exchange(is_notifying, true)) return;
  while (future_waiter* const next = waiters_left) {
    waiters_left = next->next_;
    next->notify();
  }
  is_notifying = false;
}

}  // namespace tune::detail
