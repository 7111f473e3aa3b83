// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// The axes on which configurations can differ, and the distances of candidates on them. A numeric
/// parameter is an axis from 0 to 1: by the logarithm if all candidates are positive and far apart,
/// because each doubling has a similar effect, else by the number itself. Integers that are not all
/// powers of two have a second axis, their distance to a power of two: hardware has powers of two,
/// and numbers that divide these well behave alike, whether large or small. Two consecutive size
/// parameters have an axis for the logarithm of their product: limits of a device, such as the
/// number of work items in a group, apply to products of sizes. On the axis of any other parameter,
/// different candidates are 1 apart. A parameter with a single candidate has no axis. If an axis
/// has more than 512 numbers, nearly equal ones share a place. Immutable; thread-safe.
class coordinates {
 public:
  explicit coordinates(search_space space);

  std::size_t axes() const noexcept { return axes_.size(); }
  /// The number of candidates on an axis.
  std::size_t candidates(std::size_t axis) const { return axes_[axis].places.size(); }
  /// The distance of two candidates on an axis, from 0 to 1.
  float distance(std::size_t axis, std::size_t one, std::size_t other) const;

  /// The distance of a configuration's numbers to powers of two, summed over the axes for it, each
  /// from 0 to 1.
  float power_distance(std::span<const std::uint32_t> point) const;

  /// Writes the number of a configuration's candidate on each axis.
  void write(std::size_t index, std::span<std::uint32_t> point) const;

 private:
  struct axis {
    std::size_t parameter;
    enum { number, power, category } kind;
    std::vector<float> places;  // by candidate
    std::size_t factor = 0;     // for a product the second parameter; else the first
    // If places are shared: by candidate of the first parameter, and of the second for a product.
    std::vector<std::uint32_t> candidate_of = {};
  };

  void add_axis(axis made);
  void add_products();
  static void share_places(axis& made, float steps);

  search_space space_;
  std::vector<axis> axes_;
};

/// The expected similarity of two configurations: the effects of each parameter alone, of each
/// pair, and of all together (the additive kernel of Duvenaud, Nickisch and Rasmussen, 2011, of
/// orders 1, 2 and all), on each axis by a Matern 5/2 kernel with its own length. Immutable;
/// thread-safe.
class additive_kernel {
 public:
  /// The hyperparameters; each positive.
  struct settings {
    std::vector<float> scales;  ///< for each axis: 1 / length
    float single = 1;           ///< weight of single parameters; all parameters together have
                                ///< weight 1
    float pair = 1;             ///< weight of pairs
    float noise = 3e-3F;        ///< variance of a measurement relative to that of the function

    friend bool operator==(const settings&, const settings&) = default;
  };

  /// @param places  has to outlive this object
  explicit additive_kernel(const coordinates& places);
  additive_kernel(const coordinates& places, settings with);
  /// A kernel for some candidates only: the numbers in points are places in these lists.
  /// @param of  a list for each axis
  additive_kernel(const coordinates& places, settings with,
                  const std::vector<std::vector<std::uint32_t>>& of);

  const settings& with() const noexcept { return with_; }
  std::size_t axes() const noexcept { return with_.scales.size(); }

  /// Returns the similarity of two points, from 0 to 1; 1 for equal ones. A point has the number of
  /// a candidate for each axis.
  float operator()(const std::uint32_t* one, const std::uint32_t* other) const;

  /// Computes the similarities of one point with many others, which are given axis by axis.
  /// @param others  for each axis as many numbers of candidates as there are results
  void compare(const std::uint32_t* one, const std::vector<std::vector<std::uint32_t>>& others,
               std::span<float> results) const;

 private:
  struct axis_table {
    std::size_t candidates;
    std::vector<float> alike;  // candidates x candidates
  };

  settings with_;
  float single_;  // normalised weights
  float pair_;
  float all_;
  std::vector<axis_table> tables_;
};

}  // namespace tune::detail
