// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/ranged/portfolio_builder.hpp"

namespace tune {

/// The sizes at which the configurations of a portfolio are searched and compared.
class sample_places {
 public:
  /// @param plan  has to outlive this object
  explicit sample_places(const portfolio_plan& plan);

  /// The requested sizes that are measured: first those outside the ranges, then the most frequent
  /// ones.
  const std::vector<asked_sizes>& asked() const noexcept { return asked_; }
  /// The sizes for searches; half of them are the most frequently requested ones.
  std::vector<size_list> searches() const;
  /// The number of samples that a tree needs.
  std::size_t spread() const noexcept {
    return plan_.samples != 0 ? plan_.samples : std::size_t{32} + 32 * plan_.ranges.size();
  }
  /// The largest number of samples. Corrections of costs improve with more of them.
  std::size_t most() const noexcept { return (plan_.costs ? 12 : 2) * spread(); }
  /// The sizes for comparisons, without the requested ones. Because the ends of the ranges are
  /// rarely used, a few other sizes come first.
  std::vector<size_list> comparisons() const;

 private:
  const portfolio_plan& plan_;
  std::vector<asked_sizes> asked_;
};

}  // namespace tune
