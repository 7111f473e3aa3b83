// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/extra/metrics/frame_histogram.hpp"

namespace tune {

namespace detail {

/// The frames of one pipeline.
struct frame_tally {
  frame_histogram times{};
  std::atomic<std::uint64_t> late{0};
  std::atomic<std::int64_t> deadline_ns{0};  // 0: none
};

/// The frames of all pipelines of this process with their names, in the order of the names.
std::vector<std::pair<std::string, std::shared_ptr<const frame_tally>>> all_frame_tallies();

}  // namespace detail

/// Measures the frames of a pipeline for its operators (docs/operators.md): quantiles, the longest
/// frame, and the number of late frames.
///
///   tune::frame_clock frames("receiver", 5ms);  // where the pipeline is made
///   while (running) {
///     frames.begin();
///     pipeline.run(frame);
///     frames.end();
///   }
///
/// begin, end and record take no lock, allocate nothing and make no system call. Each object is for
/// one thread at a time; record is thread-safe. Frames that overlap use record, with a time that
/// the application has measured, or objects of their own: objects of one name count together, also
/// after others of that name were destroyed.
class frame_clock {
 public:
  /// Allocates; not for the pipeline's thread.
  /// @param name      of the pipeline
  /// @param deadline  longer frames are late; zero: that of an earlier object of this name, else
  ///                  no frame is late
  /// @throws argument_error for an empty name or a negative deadline
  explicit frame_clock(const std::string& name,
                       std::chrono::nanoseconds deadline = std::chrono::nanoseconds(0));

  /// Marks the begin of a frame.
  void begin() noexcept { begun_ = std::chrono::steady_clock::now(); }
  /// Marks its end, and counts it. Returns its time; zero, without counting, if no frame has begun.
  std::chrono::nanoseconds end() noexcept {
    if (begun_ == std::chrono::steady_clock::time_point{}) return std::chrono::nanoseconds(0);
    const auto time = std::chrono::steady_clock::now() - std::exchange(begun_, {});
    record(time);
    return time;
  }
  /// Counts a frame that took this time.
  void record(std::chrono::nanoseconds time) noexcept {
    const std::int64_t deadline = tally_->deadline_ns.load(std::memory_order_relaxed);
    if (deadline > 0 && time.count() > deadline) {
      tally_->late.fetch_add(1, std::memory_order_relaxed);
    }
    tally_->times.record(time);
  }

  /// The times of all frames of this name. Thread-safe.
  const frame_histogram& times() const noexcept { return tally_->times; }
  /// The number of late frames of this name. Thread-safe.
  std::uint64_t late() const noexcept { return tally_->late.load(std::memory_order_relaxed); }
  /// The deadline; zero without one. Thread-safe.
  std::chrono::nanoseconds deadline() const noexcept {
    return std::chrono::nanoseconds(tally_->deadline_ns.load(std::memory_order_relaxed));
  }

 private:
  std::shared_ptr<detail::frame_tally> tally_;
  std::chrono::steady_clock::time_point begun_{};
};

}  // namespace tune
