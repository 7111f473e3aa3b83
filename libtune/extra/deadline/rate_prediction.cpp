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
  of_.runs.push_back(std::move(made));
}

void rate_prediction::add_paced(const frame_record& of) {
  of_.latencies.insert(of_.latencies.end(), of.latencies().begin(), of.latencies().end());
}

double rate_prediction::late_part(const observations& of, double rate) const {
  if (of.latencies.empty() || of.runs.empty()) return 1;
  std::size_t frames = 0;
  std::size_t late = 0;
  for (const run& each : of.runs) {
    const double period = each.frame_units / rate;
    double waits = 0;
    for (const double interval : each.intervals) {
      waits = std::max(0.0, waits + interval - period);
      // A stride that is prime to most sizes pairs waits with latencies of other times.
      const double own = of.latencies[frames * 7919 % of.latencies.size()];
      late += waits + own > deadline_ ? 1 : 0;
      ++frames;
    }
  }
  return static_cast<double>(late) / static_cast<double>(frames);
}

rate_prediction::observations rate_prediction::without_a_stop() const {
  observations made = of_;
  double* longest = nullptr;
  for (run& each : made.runs) {
    double& its = *std::ranges::max_element(each.intervals);
    if (longest == nullptr || its > *longest) longest = &its;
  }
  if (longest != nullptr) *longest = 0;
  if (made.latencies.empty()) return made;
  const auto worst = std::ranges::max_element(made.latencies);
  auto begin = worst;
  auto end = worst + 1;
  while (begin != made.latencies.begin() && *(begin - 1) > deadline_) --begin;
  while (end != made.latencies.end() && *end > deadline_) ++end;
  // A longer sequence is the pipeline's own.
  const auto frames = static_cast<std::size_t>(end - begin);
  if (2 * frames < made.latencies.size()) made.latencies.erase(begin, end);
  return made;
}

double rate_prediction::highest_rate(double late) const {
  if (seconds_ <= 0) return 0;
  const observations calm = without_a_stop();
  double low = 0;
  double high = 1.02 * of_.runs.front().frame_units * frames_ / seconds_;
  for (int i = 0; i < 14; ++i) {
    const double middle = (low + high) / 2;
    (late_part(calm, middle) <= late ? low : high) = middle;
  }
  return low;
}

}  // namespace tune::detail
