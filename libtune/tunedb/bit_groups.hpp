// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::cli {

/// The groups of trials whose results have the same bits (bits_metric). Trials without a digest are
/// in no group.
class bit_groups {
 public:
  /// @param digests  of each trial; empty or NaN: unknown
  explicit bit_groups(const std::vector<std::optional<double>>& digests);

  /// The numbers of trials of the groups, the largest group first.
  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }
  /// The group of each trial, counted from 0; empty for one without a digest.
  const std::vector<std::optional<std::size_t>>& groups() const noexcept { return groups_; }
  /// "3 groups of bits: 120, 14, 2 trials"; empty without groups.
  std::string text() const;

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::optional<std::size_t>> groups_;
};

/// The bits of a result beside those of the trials of its search.
struct result_bits {
  result_bits(const std::vector<stored_trial>& search, const record& result);

  bit_groups all;
  std::optional<std::size_t> of_result;  ///< its group
  /// The group of the runner-up: the fastest other trial with a time and a digest.
  std::optional<std::size_t> of_runner_up;
  /// The groups, and the comparison of the runner-up with the result; empty without groups.
  std::string text() const;
};

}  // namespace tune::cli
