// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi2d/gaussian_taps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune::operations {

std::size_t box_radius(double sigma, std::size_t boxes) {
  const auto count = static_cast<double>(boxes);
  return static_cast<std::size_t>(0.5 * std::sqrt(12.0 * sigma * sigma / count + 1.0));
}

gaussian_taps::gaussian_taps(double sigma, std::size_t length, std::size_t boxes) {
  const std::size_t radius = box_radius(sigma, boxes);
  const std::size_t width = 2 * radius + 1;
  // Each box replaces the weights by sums of `width` neighbours.
  std::vector<double> weights{1.0};
  for (std::size_t box = 0; box < boxes; ++box) {
    std::vector<double> sums(weights.size() + 2 * radius);
    double sum = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (i < weights.size()) sum += weights[i];
      if (i >= width) sum -= weights[i - width];
      sums[i] = sum;
    }
    weights = std::move(sums);
  }
  const double total = std::pow(static_cast<double>(width), static_cast<double>(boxes));
  const std::size_t centre = boxes * radius;
  reach_ = std::min(centre, std::max<std::size_t>(length, 1) - 1);
  for (std::size_t i = 0; i <= reach_; ++i) {
    // With boxes wider than some thousand samples the sums are rounded.
    half_.push_back(static_cast<float>(std::max(weights[centre + i], 0.0) / total));
  }
}

}  // namespace tune::operations
