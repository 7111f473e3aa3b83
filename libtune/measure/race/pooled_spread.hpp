// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// How much runs of one configuration differ on this device now, learned from all configurations
/// together: what to assume of one that has been run once or twice. Robust: the median over all
/// deviations, so neither outliers nor some unsteady configurations move it.
class pooled_spread {
 public:
  /// @param assumed  the relative spread that is told until there is some evidence
  explicit pooled_spread(double assumed = 0.02) : value_(assumed) {}

  /// Learns from the samples of one configuration, taken close together. One sample tells nothing,
  /// nor do some that are not valid.
  void add(const samples& of);

  /// As a part of the median, like samples::relative_spread; at least a twentieth of a per cent,
  /// for a timer that always tells the same is coarse rather than exact.
  double value() const noexcept { return value_; }

 private:
  void update();

  std::vector<double> deviations_;
  std::size_t next_update_ = 8;
  double value_;
};

}  // namespace tune
