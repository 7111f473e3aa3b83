// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// The radius of boxes which, convolved with each other, have about the variance of a Gaussian: the
/// largest r for which (2r + 1)^2 is no more than 12 sigma^2 / boxes + 1.
std::size_t box_radius(double sigma, std::size_t boxes = 4);

/// The weights of a Gaussian's approximation by boxes: symmetric, and 1 in total.
class gaussian_taps {
 public:
  /// @param sigma   the standard deviation, in samples
  /// @param length  of the lines that are smoothed, at least 1: taps beyond it are left out
  /// @param boxes   at least 1
  gaussian_taps(double sigma, std::size_t length, std::size_t boxes = 4);

  /// The greatest distance of two samples, one of which weighs on the other.
  std::size_t reach() const noexcept { return reach_; }
  /// reach + 1 weights, by distance.
  const std::vector<float>& half() const noexcept { return half_; }

 private:
  std::size_t reach_;
  std::vector<float> half_;
};

}  // namespace tune::operations
