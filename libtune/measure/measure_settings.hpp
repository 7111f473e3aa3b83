// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// What the last cache before global memory holds when a timed run starts.
enum class cache_state : std::uint8_t {
  warm,  ///< whatever the run before has left there
  cold   ///< nothing of use: a buffer larger than the cache is written before each run
};

/// How much measuring a configuration is worth. The warm-up and the first timed run, from which
/// the number of iterations is planned, come on top.
struct measure_settings {
  std::chrono::nanoseconds time_limit = std::chrono::milliseconds(100);  ///< of wall-clock time
  int min_iterations = 3;  ///< made even if they take longer than the time limit
  int max_iterations = 1000;
  cache_state cache = cache_state::warm;
};

}  // namespace tune
