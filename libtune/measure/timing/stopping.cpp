// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr run_time shortest = std::chrono::microseconds(1);

// More batches follow the time limit more closely, fewer leave less idle time between them.
constexpr int batches = 8;

void check_settings(const measure_settings& settings) {
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

int fitting_iterations(const measure_settings& settings, run_time one_run) {
  const double fitting = run_time(settings.time_limit) / one_run;
  // Compared before the conversion, because fitting may overflow an int.
  if (fitting >= settings.max_iterations) return settings.max_iterations;
  return std::max(settings.min_iterations, static_cast<int>(fitting));
}

}  // namespace

int runs_per_sample(run_time one_run, run_time resolution, double allowed) noexcept {
  constexpr double most = 128;
  // The standard deviation of a difference of two times, each rounded down to a tick.
  constexpr double error_of_a_tick = 0.4083;
  if (!(resolution > run_time::zero())) return 1;
  if (!(one_run > run_time::zero())) return static_cast<int>(most);
  const double relative = error_of_a_tick * (resolution / one_run) / allowed;
  return static_cast<int>(std::clamp(std::ceil(relative * relative), 1.0, most));
}

iteration_plan::iteration_plan(const measure_settings& settings, run_time device_time,
                               run_time wall_time)
    : settings_(settings) {
  check_settings(settings);
  // std::max returns its first argument if the second is NaN.
  planned_ = fitting_iterations(settings, std::max(std::max(shortest, device_time), wall_time));
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

warm_up_detector::warm_up_detector(const warm_up_settings& settings) : settings_(settings) {
  if (settings.group > 0 && settings.medians > 1 && settings.tolerance >= 0) return;
  throw argument_error(
      fmt::format("a warm-up cannot end by {} medians of {} runs within {}; ask for at least two "
                  "medians of one "
                  "run, and a tolerance that is not negative",
                  settings.medians, settings.group, settings.tolerance));
}

void warm_up_detector::add(std::span<const run_time> times, run_time wall_time) {
  spent_ += std::max(run_time::zero(), wall_time);
  for (const run_time time : times) {
    ++runs_;
    group_.push_back(time);
    if (group_.size() < settings_.group) continue;
    groups_.emplace_back(std::exchange(group_, {}));
    if (groups_.size() > settings_.medians) groups_.erase(groups_.begin());
  }
}

bool warm_up_detector::converged() const {
  if (spent_ < settings_.at_least || groups_.size() < settings_.medians) return false;
  if (!std::ranges::all_of(groups_, &samples::valid)) return false;
  const auto [least, most] = std::ranges::minmax(groups_, {}, &samples::median);
  std::vector<double> spreads;
  for (const samples& group : groups_) spreads.push_back(group.relative_spread());
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::ranges::nth_element(spreads, middle);
  // The typical random difference between the smallest and the largest of a few medians.
  const double chance = 2 * *middle * median_error(settings_.group);
  return most.median() / least.median() <= 1 + settings_.tolerance + chance;
}

bool warm_up_detector::finished() const {
  return converged() || spent_ >= settings_.time_limit || runs_ >= settings_.most_runs;
}

race_settings limited_by(race_settings race, const measure_settings& measure) {
  race.screening_time = std::min(race.screening_time, measure.time_limit);
  const int least = std::max(2, measure.min_iterations);
  const int most = std::max(least, measure.max_iterations);
  race.screening_runs = std::clamp(race.screening_runs, least, most);
  race.final_runs = std::min(race.final_runs, most);
  return race;
}

}  // namespace tune
