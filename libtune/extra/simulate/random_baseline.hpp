// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/simulate/recorded_space.hpp"

namespace tune {

/// The expectation of random search in a recorded space: the reference of "A Methodology for
/// Comparing Auto-Tuning Optimization Algorithms" (Willemsen et al., FGCS 2024). Immutable;
/// thread-safe.
class random_baseline {
 public:
  /// Random search draws unknown failing configurations too, or skips them, as most published
  /// figures assume.
  enum class failures { drawn, left_out };

  /// @throws argument_error if no configuration succeeded
  explicit random_baseline(const recorded_space& space, failures kind = failures::drawn);

  double optimum_ms() const noexcept { return worst_first_.back(); }
  double median_ms() const noexcept { return median_ms_; }
  /// The score of the slowest successful configuration.
  double worst_ms() const noexcept { return worst_ms_; }
  /// The median cost of an evaluation.
  double cost_ms() const noexcept { return cost_ms_; }

  /// The best score expected after this many evaluations without repetition: the score of rank M (N
  /// + 1) / (M + 1) of N, from the worst. A failure counts as the worst success.
  double expected_ms(double evaluations) const;

  /// The score at this part of the way from the median (0) to the optimum (1).
  double target_ms(double part) const;
  /// The number of evaluations after which that score is expected; at least 1.
  double evaluations_to(double score_ms) const;

 private:
  std::vector<double> worst_first_;
  double median_ms_ = 0;
  double worst_ms_ = 0;
  double cost_ms_ = 0;
};

}  // namespace tune
