// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "libtune/base/metric.hpp"

namespace tune {

/// The input of a pipeline for a while.
struct pipeline_load {
  /// Units of input per second, such as samples: the same unit in all configurations, whatever the
  /// length of their frames. 0: each frame starts as soon as there is room for it.
  double rate = 0;
  /// The time that the input lasts. Without a rate, about the time that the pipeline runs.
  std::chrono::duration<double> duration{0};
};

/// The course of a pipeline under a load. Filled by the pipeline, with reserved memory, so that
/// adding a frame allocates nothing. Used by one thread.
class frame_record {
 public:
  using seconds = std::chrono::duration<double>;

  /// Reserves memory for this many frames; more allocate.
  void reserve(std::size_t frames) {
    latencies_.reserve(frames);
    ends_.reserve(frames);
  }
  /// Adds a frame that has ended. In the order of their ends.
  /// @param ready  the time at which its input was complete, from the start of the run
  /// @param end    the time at which its results were there; the difference is its latency
  void add(seconds ready, seconds end) {
    latencies_.push_back((end - ready).count());
    ends_.push_back(end.count());
  }
  /// Declares that the last added frame does not count: the system has stopped the program while it
  /// was under way, which no configuration can help.
  void excuse() {
    if (latencies_.empty()) return;
    latencies_.pop_back();
    ends_.pop_back();
    ++excused_;
  }
  /// Sets the units of all frames, and the time from the start of the first to the end of the last.
  void finish(double units, seconds elapsed) {
    units_ = units;
    elapsed_ = elapsed;
  }
  /// Adds a figure of this run, such as watts, for goals that name it.
  void add(metric figure) { figures_.push_back(std::move(figure)); }

  /// The latencies of the frames in seconds, in the order of their ends.
  const std::vector<double>& latencies() const noexcept { return latencies_; }
  /// The times at which the frames ended, in seconds from the start of the run.
  const std::vector<double>& ends() const noexcept { return ends_; }
  /// The number of frames that do not count.
  std::size_t excused() const noexcept { return excused_; }
  /// The units of input of all frames.
  double units() const noexcept { return units_; }
  /// The time that the frames took together.
  seconds elapsed() const noexcept { return elapsed_; }
  /// Further figures.
  const std::vector<metric>& figures() const noexcept { return figures_; }

 private:
  std::vector<double> latencies_;
  std::vector<double> ends_;
  std::size_t excused_ = 0;
  double units_ = 0;
  seconds elapsed_{0};
  std::vector<metric> figures_;
};

}  // namespace tune
