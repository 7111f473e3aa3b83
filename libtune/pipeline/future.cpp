// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/pipeline/future.hpp"

namespace tune::detail {

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
  if (cancelled_) throw cancelled_error("the result was cancelled before it came");
  if (error_ != nullptr) std::rethrow_exception(error_);
}

std::exception_ptr future_state::failure() const noexcept { return is_ready() ? error_ : nullptr; }

void future_state::notify_all(std::unique_lock<std::mutex>& lock) noexcept {
  add_reference();  // a waiter may drop the last of the others
  ready_.store(true, std::memory_order_release);
  future_waiter* waiter = std::exchange(first_, nullptr);
  // While the lock is held, so that no thread that waits can see the end and destroy the state.
  ended_.notify_all();
  lock.unlock();
  while (waiter != nullptr) {
    future_waiter* next = waiter->next_;
    waiter->notify();
    waiter = next;
  }
  release();
}

}  // namespace tune::detail
