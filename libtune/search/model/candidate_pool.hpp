// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/search/model/coordinates.hpp"
#include "libtune/search/model/gaussian_process.hpp"

namespace tune::detail {

/// Configurations whose expected values are kept up to date with a Gaussian process, at a cost for
/// each point added to it that is proportional to the points and the candidates. Not thread-safe.
class candidate_pool {
 public:
  /// @param places  outlives this
  explicit candidate_pool(const coordinates& places) : places_(places), points_(places.axes()) {}

  std::size_t size() const noexcept { return candidates_.size(); }
  /// The number of the configuration at a place of the pool.
  std::size_t operator[](std::size_t place) const { return candidates_[place]; }
  bool contains(std::size_t index) const { return place_of_.contains(index); }

  void clear();
  /// Unless it is there.
  void add(std::size_t index, const gaussian_process& process);
  /// If it is there. Another candidate takes its place.
  void remove(std::size_t index);

  /// Takes in the points that the process got since it was last called. The process has to be the
  /// same one, longer.
  void update(const gaussian_process& process);

  /// Its candidate on an axis, as coordinates::write counts.
  std::uint32_t on_axis(std::size_t axis, std::size_t place) const { return points_[axis][place]; }
  /// coordinates::oddness of the candidate at a place.
  float oddness(std::size_t place) const { return oddness_[place]; }

  /// The mean at each place, from gaussian_process::whitened.
  std::vector<float> means(std::span<const float> whitened) const;
  /// The part of the variance at a place that the points leave, from 0 to 1.
  float unexplained(std::size_t place) const;

 private:
  const coordinates& places_;
  std::vector<std::size_t> candidates_;
  std::unordered_map<std::size_t, std::size_t> place_of_;
  std::vector<std::vector<std::uint32_t>> points_;  // by axis, then place
  std::vector<float> oddness_;                      // by place
  std::vector<float> explained_;                    // by place
  std::vector<std::vector<float>> rows_;            // by point of the process, then place
  std::vector<std::uint32_t> point_;                // scratch
  std::vector<float> column_;                       // scratch
};

}  // namespace tune::detail
