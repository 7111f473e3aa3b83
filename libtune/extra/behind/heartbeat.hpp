// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "libtune/extra/behind/gate_page.hpp"
#include "libtune/extra/behind/interval_tally.hpp"

namespace tune {

class heartbeat;

namespace detail {

/// Intervals between beats, and how many frames were late.
struct heartbeat_intervals {
  interval_tally::snapshot alone{};   ///< while no slice was under way
  interval_tally::snapshot beside{};  ///< while one was
  std::uint64_t late_alone = 0;
  std::uint64_t late_beside = 0;
};

/// Follows the schedule of frames by when they end. A frame whose work has grown ends late, and the
/// next one does not: only a schedule that has slipped counts. A pure value.
class frame_schedule {
 public:
  /// Adds an interval. Returns true if the frames have fallen behind by more than is allowed, and
  /// three in a row have stayed so; from then on they follow a schedule that is later.
  /// All in ns. @param period  of the frames; 0: it is not known
  bool is_late(std::int64_t interval, std::int64_t period, std::int64_t allowed) noexcept {
    if (period <= 0) return false;
    // It forgets, so that a period which is a little too short adds up to nothing.
    const std::int64_t forgotten = period / 100;
    behind_ = std::max(std::int64_t{0}, behind_ + interval - period - forgotten);
    const std::int64_t settled = std::min({behind_, before_, before_that_});
    before_that_ = std::exchange(before_, behind_);
    if (settled <= allowed) return false;
    behind_ -= settled;
    before_ = before_that_ = 0;
    return true;
  }

 private:
  std::int64_t behind_ = 0;
  std::int64_t before_ = 0;
  std::int64_t before_that_ = 0;
};

/// Decides whether more frames of an application are late beside the tuner than without it. A pure
/// value.
class late_watch {
 public:
  /// Intervals that are looked at together: those beside the tuner, or twice as many of both kinds
  /// with a few of these.
  static constexpr std::uint64_t least = 50;
  static constexpr std::uint64_t few = 5;

  /// @param period  that the application declares; zero: the median of its intervals alone
  explicit late_watch(std::chrono::nanoseconds period = std::chrono::nanoseconds(0)) noexcept
      : declared_(period) {}

  /// Returns true if too many of the last intervals beside the tuner were late, false if not, and
  /// nothing if too few have passed since it last returned something.
  std::optional<bool> look(const heartbeat_intervals& now);
  /// The period; zero: it is not known yet.
  std::chrono::nanoseconds period() const noexcept {
    return declared_.count() > 0 ? declared_ : usual_;
  }
  std::chrono::nanoseconds declared() const noexcept { return declared_; }

 private:
  void learn(const heartbeat_intervals& now);

  std::chrono::nanoseconds declared_;
  std::chrono::nanoseconds usual_{0};
  double late_alone_ = 0;  // of the intervals alone, the earlier ones less and less
  double count_alone_ = 0;
  heartbeat_intervals learned_{};    // when it last learned
  std::uint64_t judged_beside_ = 0;  // how many there were when it last judged
  std::uint64_t judged_late_ = 0;
  std::uint64_t judged_alone_ = 0;
};

/// The heartbeats of this process. Thread-safe.
class heartbeat_list {
 public:
  /// The intervals of all of them, those that have ended included.
  static heartbeat_intervals read();
  /// The number of heartbeats that live.
  static std::size_t count() noexcept;
  /// True if each that lives has had enough beats to know its usual interval.
  static bool are_known();
  /// Asks the late_watch of each: true if one of the applications' pipelines is late, false if none
  /// is, and nothing if too few intervals have passed.
  /// @param slack  by which frames may fall behind, as a part of their period
  static std::optional<bool> look(double slack);
  /// The shortest period that is declared; zero: none is.
  static std::chrono::nanoseconds shortest_period() noexcept;

 private:
  friend class tune::heartbeat;
  struct shared_state;
  static shared_state& shared();
  static void add(heartbeat& one);
  static void remove(const heartbeat& one) noexcept;
};

}  // namespace detail

/// Shows the tuner behind the application (tuning_mode::behind) how regularly a pipeline runs. It
/// slows down when frames fall behind their schedule by more than the slack
/// (behind_settings::slack), or the application says that they are late, and behind_report()
/// compares the intervals with and without it.
///
///   tune::heartbeat pulse(5ms);  // where the pipeline is made
///   while (running) {
///     pipeline.run(frame);
///     pulse.beat();              // once for each frame: reads the clock, and writes a few numbers
///   }
///
/// Where the queue runs ahead of the device, let it beat when a frame has been completed. One
/// thread at a time lets it beat. To make one is a use of libtune: a process that forks afterwards
/// has a child that may not use it.
class heartbeat {
 public:
  /// @param period  the interval at which frames come. With it runs that follow each other behind
  ///                the application take no longer than half of the slack. Zero: it is learned
  ///                from the intervals while nothing is tuned
  explicit heartbeat(std::chrono::nanoseconds period = std::chrono::nanoseconds(0));
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  /// One more frame. No lock, no allocation, no system call.
  void beat() noexcept {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::uint64_t slices = page_.slices.load(std::memory_order_relaxed);
    const bool inside = page_.inside.load(std::memory_order_relaxed) != 0;
    beside_ = inside || inside_ || slices != slices_;
    if (last_ != 0) {
      (beside_ ? counted_->beside : counted_->alone).add(now - last_);
      if (schedule_.is_late(now - last_, period_.load(std::memory_order_relaxed),
                            allowed_.load(std::memory_order_relaxed))) {
        count_late(1);
      }
    }
    last_ = now;
    slices_ = slices;
    inside_ = inside;
  }
  /// The frame of the last beat was late, by what the application knows. It need not say so, but
  /// it knows its slack best: one such frame counts like a few that have fallen behind.
  void late() noexcept { count_late(3); }
  /// The device gets work of this pipeline: from now on nothing begins behind it, as far as the
  /// gaps that the pipeline leaves are long enough. Calls may be nested: each has its end(). Where
  /// frames are copied in first, the time for it is when their copy has ended. No lock, no
  /// allocation, no system call; any thread.
  void begin() noexcept;
  /// The device has ended that work. What begins behind the application begins right after such a
  /// moment, and is to end before the next begin(), as the last gaps tell.
  void end() noexcept;
  /// The pipeline pauses: the time until the next beat does not count.
  void rest() noexcept {
    last_ = 0;
    schedule_ = {};
  }

 private:
  friend class detail::heartbeat_list;
  struct tallies {
    detail::interval_tally alone;
    detail::interval_tally beside;  // while a tuner used the device
    std::atomic<std::uint64_t> late_alone{0};
    std::atomic<std::uint64_t> late_beside{0};
  };
  void count_late(std::uint64_t frames) noexcept {
    (beside_ ? counted_->late_beside : counted_->late_alone)
        .fetch_add(frames, std::memory_order_relaxed);
  }
  detail::heartbeat_intervals intervals() const {
    return {.alone = counted_->alone.read(),
            .beside = counted_->beside.read(),
            .late_alone = counted_->late_alone.load(std::memory_order_relaxed),
            .late_beside = counted_->late_beside.load(std::memory_order_relaxed)};
  }
  std::optional<bool> look(double slack);

  std::unique_ptr<tallies> counted_;
  detail::gate_page& page_;
  std::atomic<std::uint32_t> under_way_{0};  // begun, and not ended
  detail::late_watch watch_;                 // the list's
  std::atomic<std::int64_t> period_{0};      // in ns, from the list
  std::atomic<std::int64_t> allowed_{0};
  detail::frame_schedule schedule_;
  std::int64_t last_ = 0;
  std::uint64_t slices_ = 0;
  bool inside_ = false;
  bool beside_ = false;  // in the last interval
};

}  // namespace tune
