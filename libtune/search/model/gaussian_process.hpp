// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libtune/search/model/additive_kernel.hpp"

namespace tune::detail {

/// The part of a Gaussian process over points that is independent of the values at them: the
/// Cholesky factor of the kernel's matrix (Rasmussen and Williams, 2006, algorithm 2.1), which
/// grows by a row with each point. Not thread-safe.
class gaussian_process {
 public:
  explicit gaussian_process(additive_kernel kernel) : kernel_(std::move(kernel)) {}

  const additive_kernel& kernel() const noexcept { return kernel_; }
  std::size_t size() const noexcept { return rows_.size(); }
  const std::uint32_t* point(std::size_t i) const { return points_.data() + i * axes(); }
  std::size_t axes() const noexcept { return kernel_.axes(); }

  void add(std::span<const std::uint32_t> point);

  /// Returns a row of the factor, up to and including the diagonal.
  std::span<const float> row(std::size_t i) const { return rows_[i]; }

  /// Computes the covariances of a point with the process's points from `first` on, multiplied by
  /// the inverse of the factor. The sum of their squares is the part of the variance that the
  /// points explain, from 0 to 1; their product with whitened(values) is the mean at the point.
  void whiten(std::span<const std::uint32_t> point, std::size_t first,
              std::vector<float>& into) const;

  /// Returns the values multiplied by the inverse of the factor. NaN, an unknown value, is replaced
  /// by the mean predicted from the points before it, and so does not change any mean.
  std::vector<float> whitened(std::span<const float> values) const;

 private:
  additive_kernel kernel_;
  std::vector<std::uint32_t> points_;
  std::vector<std::vector<float>> rows_;
};

/// Returns the logarithm of the marginal likelihood of values at points under a kernel, without
/// constants, for the best variance of the function.
/// @param points  for each value, as many numbers as the kernel has axes
double log_likelihood(const additive_kernel& kernel, std::span<const std::uint32_t> points,
                      std::span<const float> values);

/// Returns settings of the kernel with a higher posterior probability, searched along one setting
/// after the other; `from` if the search finds nothing better. The prior length is somewhat longer
/// than the axis.
/// @param points  the numbers of candidates; for each value as many as there are axes
additive_kernel::settings fit_kernel(const coordinates& places, additive_kernel::settings from,
                                     std::span<const std::uint32_t> points,
                                     std::span<const float> values);

/// Configurations with expected values from a Gaussian process. Updating them after an added point
/// takes time proportional to the points times the candidates. Not thread-safe.
class candidate_pool {
 public:
  /// @param places  has to outlive this object
  explicit candidate_pool(const coordinates& places) : places_(places), points_(places.axes()) {}

  std::size_t size() const noexcept { return candidates_.size(); }
  /// The number of the configuration at a place of the pool.
  std::size_t operator[](std::size_t place) const { return candidates_[place]; }
  bool contains(std::size_t index) const { return place_of_.contains(index); }

  void clear();
  /// Adds a configuration unless it is in the pool.
  void add(std::size_t index, const gaussian_process& process);
  /// Removes a configuration if it is in the pool. The last candidate may move to its place.
  void remove(std::size_t index);

  /// Updates the pool for the points that the process got since the last call. It has to be the
  /// same process, with further points.
  void update(const gaussian_process& process);

  /// Returns the number of a candidate on an axis, as in coordinates::write.
  std::uint32_t on_axis(std::size_t axis, std::size_t place) const { return points_[axis][place]; }
  /// Returns coordinates::power_distance of the candidate at a place.
  float power_distance(std::size_t place) const { return power_distances_[place]; }

  /// Returns the mean at each place, given gaussian_process::whitened.
  std::vector<float> means(std::span<const float> whitened) const;
  /// Returns the posterior variance at a place, from 0 to 1, relative to the prior.
  float posterior_variance(std::size_t place) const;

 private:
  const coordinates& places_;
  std::vector<std::size_t> candidates_;
  std::unordered_map<std::size_t, std::size_t> place_of_;
  std::vector<std::vector<std::uint32_t>> points_;  // by axis, then place
  std::vector<float> power_distances_;              // by place
  std::vector<float> explained_;                    // by place
  std::vector<std::vector<float>> rows_;            // by point of the process, then place
  std::vector<std::uint32_t> point_;                // scratch
  std::vector<float> column_;                       // scratch
};

}  // namespace tune::detail
