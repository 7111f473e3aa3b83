// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/steadiness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/measure/timing/confidence_interval.hpp"

namespace tune {

steadiness::steadiness(const steadiness_settings& settings) : settings_(settings) {
  if (settings.group > 0 && settings.medians > 1 && settings.tolerance >= 0) return;
  throw argument_error(fmt::format(
      "steadiness of {} medians of {} runs within {} is none; ask for at least two medians of one "
      "run, and a tolerance that is not negative",
      settings.medians, settings.group, settings.tolerance));
}

void steadiness::add(std::span<const run_time> times, run_time wall_time) {
  spent_ += std::max(run_time::zero(), wall_time);
  for (const run_time time : times) {
    ++runs_;
    group_.push_back(time);
    if (group_.size() < settings_.group) continue;
    groups_.emplace_back(std::exchange(group_, {}));
    if (groups_.size() > settings_.medians) groups_.erase(groups_.begin());
  }
}

bool steadiness::steady() const {
  if (spent_ < settings_.at_least || groups_.size() < settings_.medians) return false;
  if (!std::ranges::all_of(groups_, &samples::valid)) return false;
  const auto [least, most] = std::ranges::minmax(groups_, {}, &samples::median);
  std::vector<double> spreads;
  for (const samples& group : groups_) spreads.push_back(group.relative_spread());
  const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
  std::ranges::nth_element(spreads, middle);
  // Some medians of runs that spread: the least and the largest are about so far apart by chance.
  const double chance = 2 * *middle * median_error(settings_.group);
  return most.median() / least.median() <= 1 + settings_.tolerance + chance;
}

bool steadiness::finished() const {
  return steady() || spent_ >= settings_.time_limit || runs_ >= settings_.most_runs;
}

}  // namespace tune
