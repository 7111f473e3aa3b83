// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The device memory that a search may hold, and requests to give it back. Every allocation of
// device memory goes through context_interface::create_buffer and similar functions. There, an
// allocation by a search is counted and refused beyond its quota, and an allocation by the
// application that fails asks the memory_reclaimers.
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

/// Lets other threads request the memory of a search. Thread-safe.
class reclaim_gate {
 public:
  /// The longest wait of either side.
  static constexpr std::chrono::seconds patience{30};

  /// For other threads: requests the memory, and waits until it is free, the search is over or the
  /// patience has passed. The search takes no memory until the result is destroyed.
  static std::shared_ptr<const void> ask(const std::shared_ptr<reclaim_gate>& gate);

  /// For the search: true if its memory is requested. Costs one load.
  bool is_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  /// For the search: reports that the memory is free. Returns when it may be taken again.
  void give_back();
  /// For the search: reports that it is over, and its memory free.
  void close() noexcept;

 private:
  void let_go() noexcept;

  std::atomic<bool> wanted_{false};
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::size_t rounds_ = 0;   // the number of times that the memory was given back
  std::size_t waiting_ = 0;  // threads that need it
  bool is_free_ = false;     // true from giving back until memory is taken again
  bool closed_ = false;
};

/// Thrown to leave a search whose memory another thread has requested. Not derived from
/// std::exception, so that error handlers do not catch it.
struct memory_reclaimed {};

/// The memory that a search may hold, and holds, on one device. Thread-safe.
class memory_quota {
 public:
  /// @param bytes          the limit
  /// @param reserve_bytes  free memory that the search leaves on the device, if the driver reports
  /// it;
  ///                       allocations that would leave less than half of it are refused
  explicit memory_quota(std::size_t bytes, std::size_t reserve_bytes = 0)
      : limit_(bytes), reserve_(reserve_bytes) {}
  memory_quota(const memory_quota&) = delete;
  memory_quota& operator=(const memory_quota&) = delete;

  /// Makes a buffer, which counts until give() is called for its bytes.
  /// @throws device_error (out_of_memory) if it exceeds the limit, or leaves too little free
  ///         memory; exceptions of make
  std::shared_ptr<buffer_interface> allocate(
      std::size_t bytes, const context_interface& context,
      const std::function<std::shared_ptr<buffer_interface>()>& make);
  /// Reports that a counted buffer has been released.
  void give(std::size_t bytes) noexcept;

  std::size_t limit() const noexcept { return limit_; }
  std::size_t held() const noexcept { return held_.load(std::memory_order_acquire); }
  /// The largest size held at one time, in bytes.
  std::size_t most_held() const noexcept { return most_.load(std::memory_order_relaxed); }
  /// Returns the size that it may hold in all, given the present free memory of the device.
  std::size_t reach(const context_interface& context) const;
  /// The number of allocations that failed for lack of free memory. Allocations that exceed the
  /// device's capacity do not count.
  std::size_t refusals() const noexcept { return refusals_.load(std::memory_order_relaxed); }

  /// The result of reach() at the latest of these failures.
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

/// During its life, allocations of this thread on a device count towards a quota. Scopes nest: the
/// innermost for the device counts.
class [[nodiscard]] memory_quota_scope {
 public:
  memory_quota_scope(std::shared_ptr<const device_interface> device,
                     std::shared_ptr<memory_quota> quota);
  ~memory_quota_scope();
  memory_quota_scope(const memory_quota_scope&) = delete;
  memory_quota_scope& operator=(const memory_quota_scope&) = delete;

  /// Returns the quota of the calling thread for a device; may be null.
  static std::shared_ptr<memory_quota> find(const device_interface& device) noexcept;

 private:
  std::shared_ptr<const device_interface> device_;
  std::shared_ptr<memory_quota> quota_;
  memory_quota_scope* outer_;
};

/// Calls make() until it returns true; in between asks the reclaimers of a device that hold memory,
/// each once, including those added meanwhile.
/// @returns false if make() fails although no reclaimer holds memory or has released any since
bool make_reclaiming(const device_interface& device, std::size_t bytes,
                     const std::function<bool()>& make);

}  // namespace tune::detail
