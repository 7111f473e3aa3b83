// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/measurement.hpp"

#include "libtune/measure/timing/iteration_plan.hpp"
#include "libtune/measure/timing/sample_size.hpp"

namespace tune {

samples take_samples(measure& of, const measure_settings& settings, const wall_clock& now) {
  of.cache(settings.cache);
  of.prepare();
  const auto start = now();
  const run_time device_time = of.sample(1).front();
  const run_time wall_time = now() - start;
  const int runs = runs_per_sample(device_time, of.timer_resolution());
  iteration_plan plan(settings, device_time * runs, wall_time * runs);
  samples taken;
  while (const int iterations = plan.next_batch()) {
    const auto begin = now();
    for (const run_time time : of.sample(iterations, runs)) taken.add(time);
    plan.add(iterations, now() - begin);
  }
  return taken;
}

warm_up_report warm_up(measure& by, const steadiness_settings& settings, const wall_clock& now) {
  steadiness device(settings);
  do {
    const auto begin = now();
    const std::vector<run_time> times = by.sample(static_cast<int>(settings.group));
    device.add(times, now() - begin);
  } while (!device.finished());
  return {.steady = device.steady(), .runs = device.runs()};
}

}  // namespace tune
