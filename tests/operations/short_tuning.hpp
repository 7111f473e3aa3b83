// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "libtune/device/context.hpp"
#include "libtune/tune/options.hpp"

namespace tune::testing {

/// Makes tunings in a context short: two configurations, three runs of each, on small arrays
/// beside the memory that empties the device's cache.
/// They show that an operation can be tuned, not which of its configurations is the best.
inline void tune_shortly(const context& context) {
  tuning_options options{.strategy = "random"};
  options.measure = measure_settings{.max_iterations = 3};
  options.search.max_count = 2;
  options.memory =
      memory_budget{.bytes = (std::size_t{64} << 20) + 2 * context.device().limits().cache_bytes};
  options.compile_time = std::chrono::minutes(4);  // where others compile beside it
  set_tuning_options(context, options);
}

}  // namespace tune::testing
