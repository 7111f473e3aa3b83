// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tune::detail {

/// How alike two points are expected to behave: Matern 5/2 with a length for each axis.
struct gaussian_kernel {
  std::vector<float> scales;     ///< for each axis: 1 / length
  std::vector<bool> categories;  ///< for each axis: whether different values are 1 apart
  float noise = 1e-3F;           ///< variance of a measurement, in parts of that of the function

  /// From 0 to 1.
  float operator()(const float* a, const float* b) const;
};

/// A Gaussian process over the points that have been added, as far as it does not depend on what was
/// measured at them: the Cholesky factor of the kernel's matrix (Rasmussen and Williams, 2006,
/// algorithm 2.1), which grows by a row with each point. Not thread-safe.
class gaussian_process {
 public:
  explicit gaussian_process(gaussian_kernel kernel) : kernel_(std::move(kernel)) {}

  const gaussian_kernel& kernel() const noexcept { return kernel_; }
  std::size_t size() const noexcept { return rows_.size(); }
  const float* point(std::size_t i) const { return points_.data() + i * axes(); }
  std::size_t axes() const noexcept { return kernel_.scales.size(); }

  void add(std::span<const float> point);

  /// One row of the factor: the entries up to and with the diagonal.
  std::span<const float> row(std::size_t i) const { return rows_[i]; }

  /// The covariances of a point with the first of those added, through the inverse of the factor.
  /// The sum of their squares is what these points tell of this one, from 0 to 1; their product
  /// with whitened(values) is the mean there.
  void whiten(std::span<const float> point, std::size_t first, std::vector<float>& into) const;

  /// The values through the inverse of the factor. One that is not known, for which there is NaN,
  /// counts as what the points before it let expect, and so does not change any mean.
  std::vector<float> whitened(std::span<const float> values) const;

 private:
  gaussian_kernel kernel_;
  std::vector<float> points_;
  std::vector<std::vector<float>> rows_;
};

/// How well a kernel explains values at points: the logarithm of the marginal likelihood, without
/// constants, the variance of the function being what fits best.
/// @param points  as many for each value as the kernel has axes
double log_likelihood(const gaussian_kernel& kernel, std::span<const float> points,
                      std::span<const float> values);

}  // namespace tune::detail
