// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/extra/deadline/frame_record.hpp"

namespace tune::detail {

/// Predicts the late frames of a pipeline at any rate from runs that did not wait for input. The
/// intervals between the ends of their frames are the times that the pipeline needs for each, with
/// all disturbances; at a rate, frames wait by Lindley's recursion (D. V. Lindley, "The theory of
/// queues with a single server", 1952), and then take as long as those of a run with room. The
/// longest interval and the worst sequence of late frames do not count: they may be one stop of the
/// machine, which in runs of a tenth of a second would hide what a configuration can do.
class rate_prediction {
 public:
  /// @param deadline  of frames, in seconds
  explicit rate_prediction(double deadline = 0) : deadline_(deadline) {}
  /// Adds a run that did not wait for input.
  void add_saturated(const frame_record& of, double frame_units);
  /// Adds a run at a rate that leaves room, for the latencies of frames that do not wait.
  void add_paced(const frame_record& of);
  /// The highest rate with at most this part of late frames; 0 if even the least has more.
  double highest_rate(double late) const;

 private:
  struct run {
    std::vector<double> intervals;
    double frame_units;
  };
  struct observations {
    std::vector<run> runs;
    std::vector<double> latencies;
  };
  double late_part(const observations& of, double rate) const;
  observations without_a_stop() const;

  double deadline_;
  observations of_{};
  double frames_ = 0;
  double seconds_ = 0;  // of the intervals
};

}  // namespace tune::detail
