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

/// What the trials of its search say for a result.
struct evidence {
  evidence(const std::vector<stored_trial>& search, const record& result);

  std::size_t trials = 0;
  std::size_t measured = 0;
  std::size_t as_good = 0;      ///< configurations, itself included, that are less than 5 % slower
  bool was_fastest = false;     ///< whether no configuration was faster than the result
  std::optional<double> gap;    ///< by which part the next one is slower; empty if it was alone
  std::optional<double> noise;  ///< half of how far its samples lie apart, by their smallest

  std::string reason() const;
  /// "clear": the next one is slower by more than the noise. "close": it is not. "unknown".
  std::string verdict() const;
  std::string verdict_text() const;
};

}  // namespace tune::cli
