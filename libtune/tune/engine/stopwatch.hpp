// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/measure/measure.hpp"

namespace tune {

/// Adds the time until its destruction.
class [[nodiscard]] stopwatch {
 public:
  stopwatch(const wall_clock& now, std::chrono::nanoseconds& total)
      : now_(now), total_(total), start_(now()) {}
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() { total_ += now_() - start_; }

 private:
  const wall_clock& now_;
  std::chrono::nanoseconds& total_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tune
