// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/tune/trial.hpp"

namespace tune {

/// Trials without a time of one outcome whose reasons are alike: the first lines are the same, or
/// differ in numbers only.
struct reason_group {
  tune::outcome outcome = outcome::skipped;
  std::string reason;       ///< the first line of the first of them
  bool differs = false;     ///< whether others have other numbers
  std::size_t count = 0;    ///< how many there are
  std::size_t example = 0;  ///< the place of the first of them among the trials
};

/// The groups of all trials without a time: the largest first, equal ones in the order of the
/// trials.
std::vector<reason_group> group_reasons(const std::vector<trial>& trials);

}  // namespace tune
