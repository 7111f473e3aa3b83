// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/sensors/device_probes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <string_view>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/extra/sensors/counters.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/tune/engine/doors.hpp"

namespace tune {
namespace {

// The time of the runs of one reading of counters.
constexpr run_time counted_time{2e6};

void add_energy(const finalist& to, const energy_result& measured) {
  to.add({"energy", measured.joules, "J"});
  to.add({"power", measured.watts, "W"});
  if (std::isnan(measured.joules)) return;
  to.add({"energy_uncertainty", 100 * measured.uncertainty, "%"});
  if (measured.clock_mhz > 0) to.add({"core_clock", measured.clock_mhz, "MHz"});
  if (measured.temperature_c > 0) to.add({"temperature", measured.temperature_c, "C"});
  if (measured.power_capped) to.add({"power_capped", 1, ""});
  if (measured.throttled.empty()) return;
  to.add({"throttled", static_cast<double>(measured.repeated), ""});
  log(log_level::warning,
      fmt::format("the device throttled ({}) while the energy of {} was measured, which was "
                  "repeated {} times",
                  measured.throttled, to_string(to.result.configuration), measured.repeated));
}

bool provides(const metric_sources& sources, std::string_view name) {
  const auto has_it = [&](const std::shared_ptr<probe>& item) {
    if (item == nullptr) return false;
    const std::vector<std::string> all = item->finalist_metrics();
    return std::ranges::find(all, name) != all.end();
  };
  return std::ranges::find(sources.computed, name, &computed_metric::name) !=
             sources.computed.end() ||
         std::ranges::any_of(sources.probes, has_it);
}

struct wanted_probes {
  bool energy = false;
  bool counters = false;
};

wanted_probes probes_of_environment() {
  constexpr const char* variable = "LIBTUNE_METRICS";
  const auto choice = read_environment_choice<wanted_probes>(
      variable, {{"energy", {.energy = true}},
                 {"counters", {.counters = true}},
                 {"all", {.energy = true, .counters = true}}});
  return choice.value_or(wanted_probes{});
}

}  // namespace

void energy_probe::compare(std::span<const finalist> finalists) {
  const found_energy_sensor found = find_energy_sensor(device_);
  if (!found.sensor) {
    log(log_level::info, "no energy of device '" + device_.name() + "': " + found.absence);
    return;
  }
  std::vector<energy_load> loads;
  for (const finalist& item : finalists) {
    loads.push_back({item.repeat, item.result.score.value_or(item.result.samples.median())});
  }
  const std::vector<energy_result> measured = measure_energy(*found.sensor, loads, settings_);
  for (std::size_t i = 0; i < measured.size(); ++i) add_energy(finalists[i], measured[i]);
}

std::vector<std::string> energy_probe::finalist_metrics() const {
  return {detail::energy_metrics.begin(), detail::energy_metrics.end()};
}

void counter_probe::compare(std::span<const finalist> finalists) {
  if (!all_) finalists = finalists.first(std::min<std::size_t>(1, finalists.size()));
  try {
    for (const finalist& item : finalists) {
      const double fit = counted_time / item.result.score.value_or(counted_time);
      const int runs = static_cast<int>(std::clamp(fit, 1.0, 1000.0));
      for (metric& made : cuda::read_counters(context_, [&] { item.repeat(runs); })) {
        item.add(std::move(made));
      }
    }
  } catch (const error& failure) {
    log(log_level::info,
        "no hardware counters of device '" + context_.device().name() + "': " + failure.what());
  }
}

std::vector<std::string> counter_probe::finalist_metrics() const {
  return {detail::counter_metrics.begin(), detail::counter_metrics.end()};
}

void detail::add_device_probes(metric_sources& to, const metric_sources& given,
                               const tuning_goal& goal, const context& of) {
  const wanted_probes wanted = probes_of_environment();
  const auto is_there = [&](const char* name) {
    return provides(to, name) || provides(given, name) || provides(registered_sources(), name);
  };
  const bool for_goal = detail::names(goal, detail::energy_metrics);
  if ((for_goal || wanted.energy) && !is_there("energy")) {
    if (for_goal) {
      const found_energy_sensor found = find_energy_sensor(of.device());
      if (!found.sensor) {
        throw error("the goal is '" + to_string(goal) + "', and device '" + of.device().name() +
                    "' has no energy sensor: " + found.absence);
      }
    }
    to.probes.push_back(std::make_shared<energy_probe>(of.device()));
  }
  const bool all = detail::names(goal, detail::counter_metrics);
  if ((all || wanted.counters) && !is_there(detail::counter_metrics.front())) {
    to.probes.push_back(std::make_shared<counter_probe>(of, all || !goal.is_time()));
  }
}

}  // namespace tune
