// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/search_space.hpp"

namespace tune::detail {

/// Configurations as points whose distances mean something. A parameter of numbers is one axis from
/// 0 to 1: by the logarithm where all candidates are positive and far apart, for what doubles
/// matters alike, else by the number itself. A parameter of strings is an axis on which different
/// values are 1 apart, whichever they are. One that has a single candidate has no axis. Never
/// changes; thread-safe.
class coordinates {
 public:
  explicit coordinates(search_space space);

  std::size_t axes() const noexcept { return axes_.size(); }
  /// Whether distance on an axis is no more than equal or different.
  bool is_category(std::size_t axis) const { return axes_[axis].category; }

  /// Writes a number for each axis.
  void write(std::size_t index, std::span<float> point) const;

 private:
  struct axis {
    std::size_t parameter;
    bool category;
    std::vector<float> places;  // by candidate
  };

  search_space space_;
  std::vector<axis> axes_;
};

}  // namespace tune::detail
