// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/sample_size.hpp"

#include <algorithm>
#include <cmath>

namespace tune {

int runs_per_sample(run_time one_run, run_time resolution, double allowed) noexcept {
  constexpr double most = 128;
  // The standard deviation of a difference of two instants, each cut down to a tick.
  constexpr double error_of_a_tick = 0.4083;
  if (!(resolution > run_time::zero())) return 1;
  if (!(one_run > run_time::zero())) return static_cast<int>(most);
  const double relative = error_of_a_tick * (resolution / one_run) / allowed;
  return static_cast<int>(std::clamp(std::ceil(relative * relative), 1.0, most));
}

}  // namespace tune
