// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// The axes on which configurations can differ, and how far candidates are apart on them. A
/// parameter of numbers is an axis from 0 to 1: by the logarithm where all candidates are positive
/// and far apart, for what doubles matters alike, else by the number itself. Integers that are not
/// all powers of two have a second axis, by how far they are from one: devices are made of powers
/// of two, and what divides them well goes together however large it is. On the axis of any other
/// parameter different candidates are 1 apart, whichever they are. A parameter with a single
/// candidate has no axis. Never changes; thread-safe.
class coordinates {
 public:
  explicit coordinates(search_space space);

  std::size_t axes() const noexcept { return axes_.size(); }
  /// The candidates on an axis.
  std::size_t candidates(std::size_t axis) const { return axes_[axis].places.size(); }
  /// From 0 to 1.
  float distance(std::size_t axis, std::size_t one, std::size_t other) const;

  /// How far the numbers of a configuration are from powers of two, summed over the axes for that,
  /// each from 0 to 1.
  float oddness(std::span<const std::uint32_t> point) const;

  /// Writes the number of a candidate for each axis.
  void write(std::size_t index, std::span<std::uint32_t> point) const;

 private:
  struct axis {
    std::size_t parameter;
    enum { number, oddness, category } kind;
    std::vector<float> places;  // by candidate
  };

  search_space space_;
  std::vector<axis> axes_;
};

}  // namespace tune::detail
