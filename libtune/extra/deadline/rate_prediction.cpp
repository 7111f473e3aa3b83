// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/rate_prediction.hpp"

#include <algorithm>
#include <cstddef>

namespace tune::detail {
void rate_prediction::add_saturated(const frame_record& of, double frame_units) {
  const std::vector<double>& ends = of.ends();
  run made{.intervals = {}, .frame_units = frame_units};
  // The first frames fill the pipeline.
  const std::size_t first = std::min<std::size_t>(4, ends.size() / 4);
  for (std::size_t i = first + 1; i < ends.size(); ++i) {
    made.intervals.push_back(ends[i] - ends[i - 1]);
  }
  if (made.intervals.empty()) return;
  for (const double interval : made.intervals) seconds_ += interval;
  frames_ += static_cast<double>(made.intervals.size());
  runs_.push_back(std::move(made));
}

void rate_prediction::add_paced(const frame_record& of) {
  latencies_.insert(latencies_.end(), of.latencies().begin(), of.latencies().end());
}

double rate_prediction::late_part(double rate) const {
  if (latencies_.empty() || runs_.empty()) return 1;
  std::size_t frames = 0;
  std::size_t late = 0;
  for (const run& each : runs_) {
    const double period = each.frame_units / rate;
    double waits = 0;
    for (const double interval : each.intervals) {
      waits = std::max(0.0, waits + interval - period);
      // A stride that is prime to most sizes pairs waits with latencies of other times.
      const double own = latencies_[frames * 7919 % latencies_.size()];
      late += waits + own > deadline_ ? 1 : 0;
      ++frames;
    }
  }
  return static_cast<double>(late) / static_cast<double>(frames);
}

double rate_prediction::highest_rate(double late) const {
  if (seconds_ <= 0) return 0;
  double low = 0;
  double high = 1.02 * runs_.front().frame_units * frames_ / seconds_;
  for (int i = 0; i < 14; ++i) {
    const double middle = (low + high) / 2;
    (late_part(middle) <= late ? low : high) = middle;
  }
  return low;
}

}  // namespace tune::detail
