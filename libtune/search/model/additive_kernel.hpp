// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/search/model/coordinates.hpp"

namespace tune::detail {

/// How alike two configurations are expected to behave: what each parameter does by itself, what
/// each pair of them does together, and what all of them do (the additive kernel of Duvenaud,
/// Nickisch and Rasmussen, 2011, of orders 1, 2 and all), on each axis by a Matern 5/2 of its own
/// length. Not thread-safe while it is changed.
class additive_kernel {
 public:
  /// What may be varied to explain measurements; each positive.
  struct settings {
    std::vector<float> scales;  ///< for each axis: 1 / length
    float single = 1;           ///< weight of single parameters, that of all together being 1
    float pair = 1;             ///< weight of pairs
    float noise = 3e-3F;        ///< variance of a measurement, in parts of that of the function

    friend bool operator==(const settings&, const settings&) = default;
  };

  /// @param places  outlives this
  explicit additive_kernel(const coordinates& places);
  additive_kernel(const coordinates& places, settings with);

  const settings& with() const noexcept { return with_; }
  std::size_t axes() const noexcept { return with_.scales.size(); }

  /// From 0 to 1, 1 for a point and itself. Points hold the number of a candidate for each axis.
  float operator()(const std::uint32_t* one, const std::uint32_t* other) const;

  /// Of one point with many others, which are given axis by axis.
  /// @param others  for each axis as many numbers of candidates as there are results
  void compare(const std::uint32_t* one, const std::vector<std::vector<std::uint32_t>>& others,
               std::span<float> results) const;

 private:
  struct axis_table {
    std::size_t candidates;
    std::vector<float> alike;  // candidates x candidates
  };

  settings with_;
  float single_;  // weights, with their divisors
  float pair_;
  float all_;
  std::vector<axis_table> tables_;
};

}  // namespace tune::detail
