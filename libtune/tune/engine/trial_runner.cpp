// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_runner.hpp"

#include <cassert>
#include <utility>

#include "libtune/store/database/database_use.hpp"
#include "libtune/tune/engine/device_lease.hpp"

namespace tune {

trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const known_failures& known, std::chrono::milliseconds wait) {
  assert(!detail::database_use::is_active() && "other processes would wait for a trial");
  trial_attempt attempt(problem, index, device, settings, now);
  attempt.admit(known);
  if (!attempt.over()) attempt.generate();
  if (attempt.over()) return std::move(attempt.result());
  const device_lease turn(device.info(), wait);
  attempt.try_out();
  if (!attempt.over()) attempt.measure_alone();
  attempt.release();
  return std::move(attempt.result());
}

}  // namespace tune
