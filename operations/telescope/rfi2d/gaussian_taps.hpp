// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::operations {

/// The radius of boxes whose convolution has about the variance of a Gaussian: the largest r with
/// (2r + 1)^2 at most 12 sigma^2 / boxes + 1.
std::size_t box_radius(double sigma, std::size_t boxes = 4);

/// The weights of a Gaussian, approximated by boxes: symmetric, with a sum of 1.
class gaussian_taps {
 public:
  /// @param sigma   the standard deviation, in samples
  /// @param length  of the smoothed lines, at least 1: taps beyond it are dropped
  /// @param boxes   at least 1
  gaussian_taps(double sigma, std::size_t length, std::size_t boxes = 4);

  /// The greatest distance of two samples with a nonzero weight.
  std::size_t reach() const noexcept { return reach_; }
  /// reach + 1 weights, by distance.
  const std::vector<float>& half() const noexcept { return half_; }

 private:
  std::size_t reach_;
  std::vector<float> half_;
};

}  // namespace tune::operations
