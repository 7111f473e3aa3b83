// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/run_trial.hpp"

#include <cassert>
#include <utility>

#include "libtune/store/database/connection.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"

namespace tune {

trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const known_failures& known, std::chrono::milliseconds wait) {
  assert(!detail::database_use::is_active() && "other processes would wait for a trial");
  trial_attempt attempt(problem, index, device, settings, now);
  attempt.admit(known);
  if (!attempt.over()) attempt.generate();
  if (attempt.over()) return std::move(attempt.result());
  const device_lease turn(device.info(), wait, [](auto, auto) { detail::require_not_stopped(); });
  const detail::restored_device afterwards(device.info());
  attempt.try_out();
  if (!attempt.over()) attempt.measure_alone();
  attempt.release();
  return std::move(attempt.result());
}

}  // namespace tune
