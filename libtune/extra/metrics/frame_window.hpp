// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <deque>
#include <utility>

#include "libtune/extra/metrics/frame_histogram.hpp"

namespace tune::detail {

/// The frames of the last minutes, by earlier readings of a histogram that only grows. A pure
/// value.
class frame_window {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Returns the frames of about the last `length`, or since the last call if that was earlier, and
  /// keeps the reading for later calls. All frames at the first call.
  frame_distribution add(const frame_distribution& now, time_point at,
                         std::chrono::nanoseconds length) {
    // The oldest reading that is kept lies just outside of the window.
    while (readings_.size() > 1 && readings_[1].first <= at - length) readings_.pop_front();
    frame_distribution recent = readings_.empty() ? now : now.since(readings_.front().second);
    // A few readings suffice, however often a text is made.
    if (readings_.empty() || at - readings_.back().first >= length / most_readings) {
      readings_.emplace_back(at, now);
    }
    return recent;
  }

 private:
  static constexpr int most_readings = 10;

  std::deque<std::pair<time_point, frame_distribution>> readings_;
};

}  // namespace tune::detail
