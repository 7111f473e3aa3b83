// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/iteration_plan.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr run_time shortest = std::chrono::microseconds(1);

// More batches keep closer to the time limit, fewer leave less idle time between them.
constexpr int batches = 8;

void check(const measure_settings& settings) {
  if (settings.min_iterations < 1 || settings.max_iterations < settings.min_iterations) {
    throw argument_error(
        fmt::format("a configuration cannot be measured between {} and {} times; ask for at least "
                    "one iteration",
                    settings.min_iterations, settings.max_iterations));
  }
  if (settings.time_limit < std::chrono::nanoseconds::zero()) {
    throw argument_error("the time limit of a measurement is negative");
  }
}

int plan(const measure_settings& settings, run_time one_run) {
  const double fitting = run_time(settings.time_limit) / one_run;
  // Compared before the conversion, because fitting may be more than an int can hold.
  if (fitting >= settings.max_iterations) return settings.max_iterations;
  return std::max(settings.min_iterations, static_cast<int>(fitting));
}

}  // namespace

iteration_plan::iteration_plan(const measure_settings& settings, run_time device_time,
                               run_time wall_time)
    : settings_(settings) {
  check(settings);
  // std::max keeps its first argument when the second is NaN.
  planned_ = plan(settings, std::max(std::max(shortest, device_time), wall_time));
}

int iteration_plan::next_batch() const noexcept {
  if (finished()) return 0;
  const int wanted = std::max(settings_.min_iterations - done_, (planned_ + batches - 1) / batches);
  return std::min(wanted, planned_ - done_);
}

void iteration_plan::add(int iterations, run_time wall_time) noexcept {
  done_ += iterations;
  spent_ += std::max(run_time::zero(), wall_time);
}

bool iteration_plan::finished() const noexcept {
  return done_ >= planned_ || (done_ >= settings_.min_iterations && spent_ >= settings_.time_limit);
}

}  // namespace tune
