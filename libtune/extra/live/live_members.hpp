// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/device/command_queue.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_node.hpp"

namespace tune::detail {

/// The keys and instances of a live pipeline, and the news of better tunings. Thread-safe, for the
/// pipeline's thread, libtune's own, and publishers of news.
class live_members {
 public:
  using key_pointer = std::shared_ptr<live_key>;
  using node_pointer = std::shared_ptr<live_node>;

  /// Instances, and the generation at the moment of their selection.
  struct selection {
    std::vector<node_pointer> nodes;
    std::uint64_t generation = 0;
  };

  void add(key_pointer key);
  void add(node_pointer node);
  /// A number that grows with each instance.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  /// Sets the next candidate of a key, and wakes libtune's thread.
  void take(live_key& key, const better_tuning& found);
  /// Sets it again, unless there is a newer one.
  void put_back(live_key& key, better_tuning found);
  /// Removes a candidate and its key; empty if no key has one whose instances can be swapped.
  std::optional<std::pair<key_pointer, better_tuning>> next();

  std::vector<key_pointer> keys();
  /// Returns the instances of a key.
  selection instances_of(const key_pointer& key);
  /// Returns the instances that were made with another template than the present one of a key.
  selection stale();
  /// Returns the instances that have drifted.
  std::vector<node_pointer> drifted();
  /// Destroys those without handles, once the device has finished with them.
  void tidy();

  /// Waits for news. Returns false after stop.
  bool wait_for_news(std::chrono::milliseconds longest);
  void stop() noexcept;
  /// Ends the subscriptions, and waits for the device; without other threads.
  void end() noexcept;

 private:
  bool waits_for_arrays(const live_key& key) const;

  std::mutex mutex_;  // guards the members below, and live_key::found
  std::condition_variable changed_;
  bool stopping_ = false;
  bool has_news_ = false;
  std::vector<key_pointer> keys_;
  std::vector<node_pointer> nodes_;
  std::atomic<std::uint64_t> generation_{0};
};

/// True without an event, or if it has passed. A lost device, or a driver that has shut down, runs
/// nothing any more; its error is reported elsewhere.
bool has_ended(const std::optional<event>& end) noexcept;
/// Waits for an event, if there is one. A failed wait is an end, too.
void wait_for(const std::optional<event>& end) noexcept;

}  // namespace tune::detail
