// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/metric_sources.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <mutex>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Percentile by linear interpolation between adjacent samples.
double percentile(const samples& of, double part) {
  std::vector<run_time> times(of.times().begin(), of.times().end());
  if (times.empty()) return unknown;
  std::ranges::sort(times);
  const double place = part * static_cast<double>(times.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, times.size() - 1);
  const double share = place - static_cast<double>(below);
  return times[below].count() * (1 - share) + times[above].count() * share;
}

double statistic(const trial& of, std::string_view name) {
  if (name == "time") return of.score ? of.score->count() : of.samples.median().count();
  if (name == "mean") return of.samples.mean().count();
  if (name == "min") return of.samples.min().count();
  if (name == "spread") return of.samples.spread().count();
  if (!name.starts_with('p')) return unknown;
  int part = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + 1, end, part);
  const bool is_percentile = read.ec == std::errc{} && read.ptr == end && part >= 0 && part <= 100;
  return is_percentile ? percentile(of.samples, part / 100.0) : unknown;
}

}  // namespace

double metric_value(const trial& of, std::string_view name) {
  const metric* own = find_metric(of.metrics, name);
  return own != nullptr ? own->value : statistic(of, name);
}

namespace {

struct source_registry {
  std::mutex mutex;
  metric_sources sources;
};

source_registry& registry() {
  static detail::never_destroyed<source_registry> all;
  return *all;
}

}  // namespace

registered_metrics::registered_metrics(metric_sources sources) {
  const std::lock_guard lock(registry().mutex);
  metric_sources& all = registry().sources;
  for (computed_metric& item : sources.computed) {
    if (!is_metric_name(item.name) || !item.compute ||
        std::ranges::find(all.computed, item.name, &computed_metric::name) != all.computed.end()) {
      throw argument_error("the metric '" + item.name +
                           "' cannot be registered: it has no function, its name is invalid "
                           "(set_metric), or the name is taken");
    }
    all.computed.push_back(std::move(item));
  }
  for (auto& item : sources.probes) {
    if (item != nullptr) all.probes.push_back(std::move(item));
  }
}

metric_sources detail::registered_sources() {
  const std::lock_guard lock(registry().mutex);
  return registry().sources;
}

}  // namespace tune
