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

class heartbeat;

namespace detail {

/// Intervals between beats.
struct heartbeat_intervals {
  interval_tally::snapshot alone{};   ///< while no slice was under way
  interval_tally::snapshot beside{};  ///< while one was
};

/// Decides whether an application is late against its own period beside the tuner. What grows
/// within its slack is not. A pure value.
class late_watch {
 public:
  /// Intervals that are looked at together: those beside the tuner, or twice as many of both kinds
  /// with a few of these.
  static constexpr std::uint64_t least = 50;
  static constexpr std::uint64_t few = 5;
  /// What is no delay, whatever the slack: that of an operating system.
  static constexpr std::chrono::microseconds noise{50};

  /// @param period  that the application declares; zero: the median of its intervals alone
  explicit late_watch(std::chrono::nanoseconds period = std::chrono::nanoseconds(0)) noexcept
      : declared_(period) {}

  /// Returns true if more of the last intervals beside the tuner were too long than of those alone,
  /// false if not, and nothing if too few have passed since it last returned something.
  /// @param slack  by which they may be longer than the period, as a part of it
  std::optional<bool> look(const heartbeat_intervals& now, double slack);

 private:
  void learn(const interval_tally::snapshot& all, double slack);
  std::chrono::nanoseconds longest_on_time(double slack) const noexcept;

  std::chrono::nanoseconds declared_;
  std::chrono::nanoseconds usual_{0};
  double late_alone_ = 0;  // of the intervals alone, the earlier ones less and less
  double count_alone_ = 0;
  interval_tally::snapshot alone_{};   // when it was last learned from
  interval_tally::snapshot beside_{};  // when it was last judged
  std::uint64_t judged_alone_ = 0;     // how many there were alone then
};

/// The heartbeats of this process. Thread-safe.
class heartbeat_list {
 public:
  /// The intervals of all of them, those that have ended included.
  static heartbeat_intervals read();
  /// The number of heartbeats that live.
  static std::size_t count() noexcept;
  /// True if each that lives has beaten often enough to know its usual interval.
  static bool are_known();
  /// Asks the late_watch of each: true if one of the applications' pipelines is late, false if none
  /// is, and nothing if too few intervals have passed.
  static std::optional<bool> look(double slack);

 private:
  friend class tune::heartbeat;
  struct shared_state;
  static shared_state& shared();
  static void add(heartbeat& one);
  static void remove(const heartbeat& one) noexcept;
};

}  // namespace detail

/// Shows the tuner behind the application (tuning_mode::behind) how regularly a pipeline runs. It
/// slows down when intervals between two beats are longer than the period by more than the slack
/// (behind_settings::slack), and behind_report() compares them with and without it.
///
///   tune::heartbeat pulse;      // where the pipeline is made
///   while (running) {
///     pipeline.run(frame);
///     pulse.beat();             // once for each frame: reads the clock, and writes a few numbers
///   }
///
/// Where the queue runs ahead of the device, let it beat when a frame has been completed. One
/// thread at a time lets it beat.
class heartbeat {
 public:
  /// @param period  the interval at which frames come; zero: it is learned from the intervals while
  ///                nothing is tuned
  explicit heartbeat(std::chrono::nanoseconds period = std::chrono::nanoseconds(0));
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
  friend class detail::heartbeat_list;
  struct tallies {
    detail::interval_tally alone;
    detail::interval_tally beside;  // while a tuner used the device
  };
  detail::heartbeat_intervals intervals() const {
    return {.alone = counted_->alone.read(), .beside = counted_->beside.read()};
  }

  std::unique_ptr<tallies> counted_;
  const detail::gate_page& page_;
  detail::late_watch watch_;  // the list's
  std::int64_t last_ = 0;
  std::uint64_t slices_ = 0;
  bool inside_ = false;
};

}  // namespace tune
