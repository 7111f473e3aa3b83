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

/// Intervals between beats, and the number of late frames.
struct heartbeat_intervals {
  interval_tally::snapshot alone{};   ///< while no slice was under way
  interval_tally::snapshot beside{};  ///< while one was
  std::uint64_t late_alone = 0;
  std::uint64_t late_beside = 0;
};

/// Follows the schedule of frames by their ends. After a growth of the work one frame ends late,
/// and the next one does not: only a shifted schedule counts. A pure value.
class frame_schedule {
 public:
  /// Adds an interval. Returns true if the frames have fallen behind by more than is allowed, and
  /// three in a row have stayed so; then the later schedule becomes the reference. All in ns.
  /// @param period  of the frames; 0 if unknown
  bool is_late(std::int64_t interval, std::int64_t period, std::int64_t allowed) noexcept {
    if (period <= 0) return false;
    // Forgetting a little keeps a period that is slightly too short from adding up.
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

/// Decides if more frames of an application are late beside the tuner than without it. A pure
/// value.
class late_watch {
 public:
  /// The number of intervals for a decision: intervals beside the tuner, or twice as many of both
  /// kinds with a few beside it.
  static constexpr std::uint64_t least = 50;
  static constexpr std::uint64_t few = 5;

  /// @param period  the declared period; zero: the median of the intervals alone
  explicit late_watch(std::chrono::nanoseconds period = std::chrono::nanoseconds(0)) noexcept
      : declared_(period) {}

  /// Returns true if too many of the last intervals beside the tuner were late, false if not, and
  /// nothing if too few have passed since the last decision.
  std::optional<bool> look(const heartbeat_intervals& now);
  /// The period; zero if still unknown.
  std::chrono::nanoseconds period() const noexcept {
    return declared_.count() > 0 ? declared_ : usual_;
  }
  std::chrono::nanoseconds declared() const noexcept { return declared_; }

 private:
  void learn(const heartbeat_intervals& now);

  std::chrono::nanoseconds declared_;
  std::chrono::nanoseconds usual_{0};
  double late_alone_ = 0;  // late intervals without the tuner; the weight of earlier ones falls
  double count_alone_ = 0;
  heartbeat_intervals learned_{};    // the intervals at the last update of the reference
  std::uint64_t judged_beside_ = 0;  // their number at the last decision
  std::uint64_t judged_late_ = 0;
  std::uint64_t judged_alone_ = 0;
};

/// The heartbeats of this process. Thread-safe.
class heartbeat_list {
 public:
  /// The intervals of all heartbeats, including those destroyed.
  static heartbeat_intervals read();
  /// The number of live heartbeats.
  static std::size_t count() noexcept;
  /// True if each live heartbeat has had enough beats for its usual interval.
  static bool are_known();
  /// Evaluates the late_watch of each: true if one of the application's pipelines is late, false if
  /// no pipeline is, and empty if too few intervals have passed.
  /// @param slack  the tolerated delay of frames, as a part of their period
  static std::optional<bool> look(double slack);
  /// The shortest declared period; zero without one.
  static std::chrono::nanoseconds shortest_period() noexcept;

 private:
  friend class tune::heartbeat;
  struct shared_state;
  static shared_state& shared();
  static void add(heartbeat& one);
  static void remove(const heartbeat& one) noexcept;
};

}  // namespace detail

/// Shows the tuner behind the application (tuning_mode::behind) the regularity of a pipeline. It
/// slows down when frames fall behind their schedule by more than the slack
/// (behind_settings::slack), or the application reports late frames. behind_report() compares the
/// intervals with and without it.
///
///   tune::heartbeat pulse(5ms);  // where the pipeline is made
///   while (running) {
///     pipeline.run(frame);
///     pulse.beat();              // once for each frame: reads the clock, and writes a few numbers
///   }
///
/// If the queue runs ahead of the device, call beat() when a frame has been completed. One thread
/// at a time calls it. Making one is a use of libtune: if the process forks afterwards, the child
/// may not use libtune.
class heartbeat {
 public:
  /// @param period  the interval of the frames. With it, consecutive runs behind the application
  ///                take
  ///                no longer than half of the slack. Zero: it is learned from the intervals while
  ///                nothing is tuned
  explicit heartbeat(std::chrono::nanoseconds period = std::chrono::nanoseconds(0));
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  /// Marks one more frame. No lock, no allocation, no system call.
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
  /// Marks the frame of the last beat as late, by the application's own limit. The call is
  /// optional, but the application knows its slack best: one such frame counts like a few that have
  /// fallen behind.
  void late() noexcept { count_late(3); }
  /// Marks the start of work of this pipeline on the device: from now on nothing begins behind it,
  /// if the gaps of the pipeline are long enough. Calls may be nested: each has its end(). If
  /// frames are copied to the device first, call it when the copy has ended. No lock, no
  /// allocation, no system call; any thread.
  void begin() noexcept;
  /// Marks the end of that work on the device. Work behind the application begins right after it,
  /// and should end before the next begin(), judging by the last gaps.
  void end() noexcept;
  /// Marks a pause of the pipeline: the time until the next beat does not count.
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
  detail::late_watch watch_;                 // for heartbeat_list only
  std::atomic<std::int64_t> period_{0};      // in ns, set by heartbeat_list
  std::atomic<std::int64_t> allowed_{0};
  detail::frame_schedule schedule_;
  std::int64_t last_ = 0;
  std::uint64_t slices_ = 0;
  bool inside_ = false;
  bool beside_ = false;  // true if the last interval was beside the tuner
};

}  // namespace tune
