// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tune::detail {

/// std::timed_mutex, made of a flag: the thread sanitizer of GCC 12 does not see the waits of the
/// standard's. Any thread may unlock it.
class timed_mutex {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    unlocked_.wait(lock, [&] { return !is_locked_; });
    is_locked_ = true;
  }
  bool try_lock_for(std::chrono::nanoseconds wait) {
    std::unique_lock lock(mutex_);
    if (!unlocked_.wait_for(lock, wait, [&] { return !is_locked_; })) return false;
    is_locked_ = true;
    return true;
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      is_locked_ = false;
    }
    unlocked_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable unlocked_;
  bool is_locked_ = false;
};

}  // namespace tune::detail
