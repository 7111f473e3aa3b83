// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tune {
namespace {

constexpr run_time unknown{std::numeric_limits<double>::quiet_NaN()};

/// times is neither empty nor contains NaN, which would break the order.
run_time median_of(std::vector<run_time> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  return (*std::max_element(times.begin(), middle) + *middle) / 2;
}

}  // namespace

bool samples::finite() const noexcept {
  return !times_.empty() &&
         std::ranges::all_of(times_, [](run_time time) { return std::isfinite(time.count()); });
}

bool samples::valid() const noexcept {
  return finite() &&
         std::ranges::all_of(times_, [](run_time time) { return time > run_time::zero(); });
}

run_time samples::min() const { return finite() ? *std::ranges::min_element(times_) : unknown; }

run_time samples::mean() const {
  if (!finite()) return unknown;
  return std::accumulate(times_.begin(), times_.end(), run_time::zero()) /
         static_cast<double>(times_.size());
}

run_time samples::median() const { return finite() ? median_of(times_) : unknown; }

run_time samples::spread() const {
  if (!finite()) return unknown;
  // 1 / (the 75th percentile of the standard normal distribution)
  constexpr double normal_consistency = 1.4826;
  const run_time centre = median_of(times_);
  std::vector<run_time> deviations = times_;
  for (run_time& time : deviations) time = std::chrono::abs(time - centre);
  return median_of(std::move(deviations)) * normal_consistency;
}

double samples::relative_spread() const { return spread() / median(); }

std::optional<run_time> score(const samples& of) {
  return of.valid() ? std::optional(of.median()) : std::nullopt;
}

}  // namespace tune
