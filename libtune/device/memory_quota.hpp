// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The device memory that a search may hold, and the way in which it is asked for it. Every
// allocation of device memory comes to context_interface::create_buffer and its like, where one of
// a search is counted and, over its quota, refused; and where one of the application that finds no
// room asks the memory_reclaimers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "libtune/device/interface.hpp"

namespace tune::detail {

/// Through which other threads ask a search to give its memory back. Thread-safe.
class reclaim_gate {
 public:
  /// The longest wait of either side for the other.
  static constexpr std::chrono::seconds patience{30};

  /// For other threads: asks, and waits until the memory is free, the search is over or the
  /// patience is at its end. The search takes no memory until the result is destroyed.
  static std::shared_ptr<const void> ask(const std::shared_ptr<reclaim_gate>& gate);

  /// For the search: true if its memory is wanted. Costs a load.
  bool is_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// The memory is free. Returns when it may be taken anew.
  void give_back();
  /// The search is over, and its memory free.
  void close() noexcept;

 private:
  void let_go() noexcept;

  std::atomic<bool> wanted_{false};
  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::size_t rounds_ = 0;   // how often the memory was given back
  std::size_t waiting_ = 0;  // threads that need it
  bool is_free_ = false;     // it has been given back and not been taken anew
  bool closed_ = false;
};

/// Leaves a search whose memory is wanted by another thread. No std::exception, so that a function
/// which handles errors does not take it for one.
struct memory_reclaimed {};

/// The bytes that a search may hold on one device, and does. Thread-safe.
class memory_quota {
 public:
  /// @param bytes          the limit
  /// @param reserve_bytes  what the search leaves free on the device, where the driver tells how
  ///                       much that is; it is refused what would leave less than half of it
  explicit memory_quota(std::size_t bytes, std::size_t reserve_bytes = 0)
      : limit_(bytes), reserve_(reserve_bytes) {}
  memory_quota(const memory_quota&) = delete;
  memory_quota& operator=(const memory_quota&) = delete;

  /// Makes a buffer that counts until give() is called for its bytes.
  /// @throws device_error (out_of_memory) if it is over the limit, or leaves too little free; what
  ///         make throws
  std::shared_ptr<buffer_interface> allocate(
      std::size_t bytes, const context_interface& context,
      const std::function<std::shared_ptr<buffer_interface>()>& make);
  /// A buffer that was counted has been released.
  void give(std::size_t bytes) noexcept;

  std::size_t limit() const noexcept { return limit_; }
  std::size_t held() const noexcept { return held_.load(std::memory_order_acquire); }
  /// The most bytes that were held at once.
  std::size_t most_held() const noexcept { return most_.load(std::memory_order_relaxed); }
  /// Returns the bytes that it may hold in all, as far as the device has them now.
  std::size_t reach(const context_interface& context) const;
  /// The number of allocations that failed because there is too little memory now. One that the
  /// device could never hold does not count.
  std::size_t refusals() const noexcept { return refusals_.load(std::memory_order_relaxed); }

  /// The result of reach() at the latest of them.
  std::size_t reach_at_refusal() const noexcept {
    return reach_at_refusal_.load(std::memory_order_relaxed);
  }

  const std::shared_ptr<reclaim_gate>& gate() const noexcept { return gate_; }

 private:
  void take(std::size_t bytes, const context_interface& context);
  [[noreturn]] void refuse(std::size_t bytes, const context_interface& context,
                           const std::string& reason);
  void note_failure(std::size_t bytes, const context_interface& context);

  std::size_t limit_;
  std::size_t reserve_;
  std::atomic<std::size_t> held_{0};
  std::atomic<std::size_t> most_{0};
  std::atomic<std::size_t> refusals_{0};
  std::atomic<std::size_t> reach_at_refusal_{0};
  std::shared_ptr<reclaim_gate> gate_ = std::make_shared<reclaim_gate>();
};

/// While one lives, what its thread allocates on a device counts for a quota. They are nested: the
/// innermost for the device counts.
class [[nodiscard]] memory_quota_scope {
 public:
  memory_quota_scope(std::shared_ptr<const device_interface> device,
                     std::shared_ptr<memory_quota> quota);
  ~memory_quota_scope();
  memory_quota_scope(const memory_quota_scope&) = delete;
  memory_quota_scope& operator=(const memory_quota_scope&) = delete;

  /// The quota of the calling thread for a device; null if there is none.
  static std::shared_ptr<memory_quota> find(const device_interface& device) noexcept;

 private:
  std::shared_ptr<const device_interface> device_;
  std::shared_ptr<memory_quota> quota_;
  memory_quota_scope* outer_;
};

/// Calls make() until it returns true, and asks the reclaimers of a device between: those that hold
/// memory, each once, those included that come meanwhile.
/// @returns false if make() fails although no other holds memory, nor has since it was called
bool make_reclaiming(const device_interface& device, std::size_t bytes,
                     const std::function<bool()>& make);

}  // namespace tune::detail
