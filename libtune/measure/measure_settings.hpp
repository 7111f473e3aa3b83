// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tune {

/// How much measuring a configuration is worth. The warm-up and the first timed run, from which
/// the number of iterations is planned, come on top.
struct measure_settings {
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(100);  ///< of wall-clock time
  int min_iterations = 3;  ///< made even if they take longer than the time limit
  int max_iterations = 1000;
};

}  // namespace tune
