// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/kernel_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tune::detail {
namespace {

constexpr float least_scale = 0.05F;
constexpr float most_scale = 20;
constexpr float least_noise = 1e-4F;
constexpr float most_noise = 0.3F;

double log_prior(const gaussian_kernel& kernel) {
  constexpr double expected = 0.0;  // log of 1 / length
  constexpr double spread = 1.0;
  constexpr double expected_noise = -6.0;
  constexpr double noise_spread = 2.0;
  const auto normal = [](double x, double mean, double deviation) {
    return -0.5 * (x - mean) * (x - mean) / (deviation * deviation);
  };
  double sum = normal(std::log(static_cast<double>(kernel.noise)), expected_noise, noise_spread);
  for (const float scale : kernel.scales) {
    sum += normal(std::log(static_cast<double>(scale)), expected, spread);
  }
  return sum;
}

class climbing {
 public:
  climbing(gaussian_kernel kernel, std::span<const float> points, std::span<const float> values)
      : kernel_(std::move(kernel)), points_(points), values_(values), best_(rate(kernel_)) {}

  /// Tries a number of the kernel times the factor and its inverse, on while it helps.
  void climb(float& number, float factor, float least, float most) {
    for (const float step : {factor, 1 / factor}) {
      bool better = false;
      while (try_number(number, std::clamp(number * step, least, most))) better = true;
      if (better) return;
    }
  }

  gaussian_kernel& kernel() { return kernel_; }

 private:
  double rate(const gaussian_kernel& kernel) const {
    return log_likelihood(kernel, points_, values_) + log_prior(kernel);
  }

  bool try_number(float& number, float other) {
    if (other == number) return false;
    const float before = number;
    number = other;
    const double rated = rate(kernel_);
    if (rated > best_) {
      best_ = rated;
      return true;
    }
    number = before;
    return false;
  }

  gaussian_kernel kernel_;
  std::span<const float> points_;
  std::span<const float> values_;
  double best_;
};

}  // namespace

gaussian_kernel fit_kernel(gaussian_kernel kernel, std::span<const float> points,
                           std::span<const float> values) {
  climbing fit(std::move(kernel), points, values);
  for (float& scale : fit.kernel().scales) fit.climb(scale, 1.7F, least_scale, most_scale);
  fit.climb(fit.kernel().noise, 3, least_noise, most_noise);
  return std::move(fit.kernel());
}

}  // namespace tune::detail
