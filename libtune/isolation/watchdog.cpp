// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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
  if (step.kind == step_kind::generate && !floor_is_given)
    limit += static_cast<double>(compile_time.count());
  if (!std::isfinite(limit)) limit = longest_ns;
  return std::chrono::nanoseconds(std::llround(std::min(limit, longest_ns)));
}

void watchdog::begin(search_step step, std::optional<run_time> best, time_point now) {
  limit_ = limits_.limit_of(step, best);
  step_ = std::move(step);
  begin_ = now;
  compiling_since_.reset();
}

void watchdog::begin_anew(time_point now) noexcept {
  begin_ = now;
  if (compiling_since_) compiling_since_ = now;
}

void watchdog::compiling_ends(time_point now) noexcept {
  if (compiling_since_) begin_ += now - *std::exchange(compiling_since_, std::nullopt);
}

std::chrono::nanoseconds watchdog::limit() const noexcept {
  const auto longest = std::chrono::nanoseconds(static_cast<std::int64_t>(longest_ns));
  if (!compiling_since_ || !limits_.floor_is_given || limit_ >= longest) return limit_;
  return limit_ + std::min(limits_.compile_time, longest);
}

std::optional<watchdog::time_point> watchdog::deadline() const {
  if (!step_) return std::nullopt;
  return begin_ + limit();
}

}  // namespace tune::detail
