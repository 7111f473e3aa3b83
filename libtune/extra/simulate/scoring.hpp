// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/simulate/random_baseline.hpp"
#include "libtune/extra/simulate/simulation.hpp"

namespace tune {

/// Scores searches of one recorded space against random search, by the methodology of
/// random_baseline: 0 is as good as random search, 1 is the optimum at once, below 0 is worse than
/// random. Searches are sampled at equidistant times, from the time when random search is expected
/// 1 % of the way from the median to the optimum until it is expected at 95 %. Immutable;
/// thread-safe.
class scoring {
 public:
  static constexpr std::size_t default_moments = 32;

  /// @param cost_ms  random search's cost of an evaluation; empty: the median of the recorded costs
  explicit scoring(random_baseline baseline, std::optional<double> cost_ms = std::nullopt,
                   std::size_t moments = default_moments);

  const random_baseline& baseline() const noexcept { return baseline_; }
  /// The budget of random search: the last of the times.
  double budget_ms() const noexcept { return times_.back(); }
  std::span<const double> times_ms() const noexcept { return times_; }

  /// The score at each of the times: the part of the gap between random search's expectation and
  /// the optimum that the best so far closes. A search without a result yet counts as having its
  /// first one, and as having the worst if it finds none in time. Steps must be in the order of
  /// their times.
  std::vector<double> curve(std::span<const simulated_step> steps) const;

  /// The mean of the curve.
  double score(std::span<const simulated_step> steps) const;

  /// The best score found until a time, divided by the optimum: 1 or more; infinite without a
  /// score.
  double ratio_at(double time_ms, std::span<const simulated_step> steps) const;

 private:
  random_baseline baseline_;
  double cost_ms_;
  std::vector<double> times_;
};

}  // namespace tune
