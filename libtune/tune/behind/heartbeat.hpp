// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "libtune/tune/behind/gate_page.hpp"
#include "libtune/tune/behind/interval_tally.hpp"

namespace tune {

/// Shows the tuner behind the application (tuning_mode::behind) how regularly a pipeline runs. It
/// slows down when the longest intervals between two beats grow, and behind_report() compares them
/// with and without it.
///
///   tune::heartbeat pulse;      // where the pipeline is made
///   while (running) {
///     pipeline.run(frame);
///     pulse.beat();             // once for each frame: reads the clock, and writes two numbers
///   }
///
/// Where the queue runs ahead of the device, let it beat when a frame has been completed. One
/// thread at a time lets it beat.
class heartbeat {
 public:
  heartbeat();
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  /// One more frame. No lock, no allocation, no system call.
  void beat() noexcept {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::uint64_t slices = page_.slices.load(std::memory_order_relaxed);
    const bool inside = page_.inside.load(std::memory_order_relaxed) != 0;
    const bool beside = inside || inside_ || slices != slices_;
    if (last_ != 0) (beside ? counted_->beside : counted_->alone).add(now - last_);
    last_ = now;
    slices_ = slices;
    inside_ = inside;
  }
  /// The pipeline pauses: the time until the next beat does not count.
  void rest() noexcept { last_ = 0; }

 private:
  friend class heartbeat_list;
  struct tallies {
    detail::interval_tally alone;
    detail::interval_tally beside;  // while a tuner used the device
  };

  std::unique_ptr<tallies> counted_;
  const detail::gate_page& page_;
  std::int64_t last_ = 0;
  std::uint64_t slices_ = 0;
  bool inside_ = false;
};

/// All intervals of the heartbeats of this process so far.
struct heartbeat_intervals {
  detail::interval_tally::snapshot alone{};   ///< while no slice was under way
  detail::interval_tally::snapshot beside{};  ///< while one was
};

/// The heartbeats of this process. Thread-safe.
class heartbeat_list {
 public:
  /// The intervals of all of them, those that have ended included.
  static heartbeat_intervals read();
  /// The number of heartbeats that live.
  static std::size_t count() noexcept;

 private:
  friend class heartbeat;
  struct shared_state;
  static shared_state& shared();
  static void add(const heartbeat& one);
  static void remove(const heartbeat& one) noexcept;
};

namespace detail {

/// Decides whether an application suffers from the tuner behind it. A pure value.
class tail_watch {
 public:
  /// Intervals that are looked at together, at least.
  static constexpr std::uint64_t least = 100;
  /// An interval is longer if it is so by this part of the interval alone, and by so much.
  static constexpr double tolerance = 0.1;
  static constexpr std::chrono::microseconds slack{50};

  /// Returns true if the last intervals beside the tuner had a longer tail than those alone, false
  /// if not, and nothing if too few have passed since it last returned something.
  std::optional<bool> look(const heartbeat_intervals& now);

 private:
  interval_tally::snapshot seen_{};
};

}  // namespace detail
}  // namespace tune
