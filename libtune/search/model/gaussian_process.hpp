// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libtune/search/model/additive_kernel.hpp"

namespace tune::detail {

/// A Gaussian process over the points that have been added, as far as it does not depend on what
/// was measured at them: the Cholesky factor of the kernel's matrix (Rasmussen and Williams, 2006,
/// algorithm 2.1), which grows by a row with each point. Not thread-safe.
class gaussian_process {
 public:
  explicit gaussian_process(additive_kernel kernel) : kernel_(std::move(kernel)) {}

  const additive_kernel& kernel() const noexcept { return kernel_; }
  std::size_t size() const noexcept { return rows_.size(); }
  const std::uint32_t* point(std::size_t i) const { return points_.data() + i * axes(); }
  std::size_t axes() const noexcept { return kernel_.axes(); }

  void add(std::span<const std::uint32_t> point);

  /// One row of the factor: the entries up to and with the diagonal.
  std::span<const float> row(std::size_t i) const { return rows_[i]; }

  /// The covariances of a point with the first of those added, through the inverse of the factor.
  /// The sum of their squares is what these points tell of this one, from 0 to 1; their product
  /// with whitened(values) is the mean there.
  void whiten(std::span<const std::uint32_t> point, std::size_t first,
              std::vector<float>& into) const;

  /// The values through the inverse of the factor. One that is not known, for which there is NaN,
  /// counts as what the points before it let expect, and so does not change any mean.
  std::vector<float> whitened(std::span<const float> values) const;

 private:
  additive_kernel kernel_;
  std::vector<std::uint32_t> points_;
  std::vector<std::vector<float>> rows_;
};

/// How well a kernel explains values at points: the logarithm of the marginal likelihood, without
/// constants, the variance of the function being what fits best.
/// @param points  as many for each value as the kernel has axes
double log_likelihood(const additive_kernel& kernel, std::span<const std::uint32_t> points,
                      std::span<const float> values);

/// Settings of the kernel that explain the values better, or the same if none were found: those of
/// the greatest posterior probability, looked for along one of them after the other. Lengths are
/// believed to be about that of the whole axis, unless the values say otherwise.
/// @param points  the numbers of candidates, for each value as many as there are axes
additive_kernel::settings fit_kernel(const coordinates& places, additive_kernel::settings from,
                                     std::span<const std::uint32_t> points,
                                     std::span<const float> values);

}  // namespace tune::detail
