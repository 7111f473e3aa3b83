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
  /// @param plan  outlives it
  explicit sample_places(const portfolio_plan& plan);

  /// Those that programs have asked for and that are measured: what is in no range, then those that
  /// were asked for most.
  const std::vector<asked_sizes>& asked() const noexcept { return asked_; }
  /// Those of searches, half of them at sizes that are asked for most.
  std::vector<size_list> searches() const;
  /// The number of samples that a tree needs.
  std::size_t spread() const noexcept {
    return plan_.samples != 0 ? plan_.samples : std::size_t{32} + 32 * plan_.ranges.size();
  }
  /// The number of samples at most. What costs miss is known the better the more there are.
  std::size_t most() const noexcept { return (plan_.costs ? 12 : 2) * spread(); }
  /// Those of comparisons, without those that were asked for. The ends of the ranges are seldom
  /// asked for, so that a few others come first.
  std::vector<size_list> comparisons() const;

 private:
  const portfolio_plan& plan_;
  std::vector<asked_sizes> asked_;
};

}  // namespace tune
