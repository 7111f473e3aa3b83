// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "libtune/extra/behind/tuning_behind.hpp"

namespace tune::detail {

/// The sum of all parts.
std::chrono::nanoseconds total_of(const behind_times& of);

/// The work of the tuner from one report to the next, for one key.
class behind_progress {
 public:
  explicit behind_progress(behind_summary before) : before_(std::move(before)) {}

  /// "1.2 s, with 0.3 s of its device in 40 slices, ..."
  std::string text(const behind_summary& now) const;

 private:
  behind_summary before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tune::detail
