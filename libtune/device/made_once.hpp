// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace tune::detail {

/// An object that is made by the first call that needs it, and read without a lock by later ones.
/// If a call throws, the next one tries again. (std::call_once has the same guarantee, but after an
/// exception the next call hangs under the thread sanitizer.)
template <class T>
class made_once {
 public:
  /// Returns the object. Thread-safe.
  /// @param make  makes it, a std::unique_ptr; called by one thread at a time, until it succeeds
  template <class Make>
  const T& get(const Make& make) const {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (!owner_) {
      owner_ = make();
      made_.store(owner_.get(), std::memory_order_release);
    }
    return *owner_;
  }
  /// Destroys the object. No other thread may be reading it.
  void reset() noexcept {
    made_ = nullptr;
    owner_.reset();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const T> owner_;
  mutable std::atomic<const T*> made_ = nullptr;
};

}  // namespace tune::detail
