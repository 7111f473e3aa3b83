// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/measurement.hpp"

#include "libtune/measure/iteration_plan.hpp"

namespace tune {
namespace {

iteration_plan plan_by_one_run(measure& of, const measure_settings& settings,
                               const wall_clock& now) {
  of.prepare();
  const auto begin = now();
  const run_time device_time = of.sample(1).front();
  return iteration_plan(settings, device_time, now() - begin);
}

}  // namespace

samples take_samples(measure& of, const measure_settings& settings, const wall_clock& now) {
  iteration_plan plan = plan_by_one_run(of, settings, now);
  samples taken;
  while (const int iterations = plan.next_batch()) {
    const auto begin = now();
    for (const run_time time : of.sample(iterations)) taken.add(time);
    plan.add(iterations, now() - begin);
  }
  return taken;
}

}  // namespace tune
