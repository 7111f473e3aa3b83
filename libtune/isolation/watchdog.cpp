// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

// Beyond it a sum with a point in time does not fit in 64 bits.
constexpr double longest_ns = 365.0 * 24 * 3600e9;

}  // namespace

std::chrono::nanoseconds watchdog_limits::limit_of(const search_step& step,
                                                   std::optional<run_time> best) const {
  const double known = best ? best->count() * static_cast<double>(step.launches) : 0.0;
  const double expected = std::max(known, step.expected.count());
  double limit = std::max(static_cast<double>(floor.count()), std::max(multiple, 1.0) * expected);
  if (step.kind == step_kind::generate) limit += static_cast<double>(compile_time.count());
  if (!std::isfinite(limit)) limit = longest_ns;
  return std::chrono::nanoseconds(std::llround(std::min(limit, longest_ns)));
}

void watchdog::begin(search_step step, std::optional<run_time> best, time_point now) {
  limit_ = limits_.limit_of(step, best);
  step_ = std::move(step);
  begin_ = now;
}

std::optional<watchdog::time_point> watchdog::deadline() const {
  if (!step_) return std::nullopt;
  return begin_ + limit_;
}

}  // namespace tune::detail
