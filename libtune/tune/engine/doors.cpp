// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/doors.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/tuned_key.hpp"

namespace tune::detail {
namespace {

class no_setter final : public device_setter {
 public:
  void set(const device_info& device, const device_settings& wanted) override {
    if (!wanted) return;
    throw error(fmt::format("clocks and power limits of device '{}' cannot be set: {}",
                            device.identity.name, lacks("extra/sensors", "sets them")));
  }
  void restore(const device_info&) noexcept override {}
  void restore_left_behind() noexcept override {}
};

std::shared_ptr<result_source> find_no_source(const tuning_settings& settings) {
  if (!settings.shared_store.empty()) {
    warn_once("results are neither taken from nor sent to the server of LIBTUNE_SHARED_DB: " +
              lacks("extra/shared", "speaks to servers"));
  }
  return nullptr;
}

bool tunes_nothing_later(const tuned_key& key, bool) {
  if (key.settings.mode == tuning_mode::behind) {
    warn_once("nothing is tuned in the mode behind: " + lacks("extra/behind", "tunes behind it"));
  }
  return false;
}

void add_no_observers(std::vector<std::shared_ptr<observer>>&, const tuning_settings& settings,
                      const function_identity&, bool) {
  if (settings.report.empty()) return;
  warn_once("'" + settings.report + "' is not written: " + lacks("console", "writes pages"));
}

// The metrics of a probe are not known before it measures.
bool may_provide(const metric_sources& sources, std::string_view metric) {
  return !sources.probes.empty() ||
         std::ranges::find(sources.computed, metric, &computed_metric::name) !=
             sources.computed.end();
}

void add_no_probes(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                   const context& of) {
  const std::string missing = lacks("extra/sensors", "reads sensors");
  for (const char* const metric : sensor_metrics) {
    const bool is_there = may_provide(to, metric) || may_provide(given, metric) ||
                          may_provide(registered_sources(), metric);
    if (is_there || !names(goal, std::span(&metric, 1))) continue;
    throw error(fmt::format("the goal is '{}', and nothing measures '{}' of device '{}': {}",
                            to_string(goal), metric, of.device().name(), missing));
  }
  if (read_environment("LIBTUNE_METRICS")) warn_once("LIBTUNE_METRICS adds nothing: " + missing);
}

std::shared_ptr<search_inputs> find_no_inputs(const context&, const std::string&,
                                              const std::vector<named_value>&,
                                              const std::vector<named_value>&) {
  if (read_environment("LIBTUNE_INPUTS")) {
    warn_once("LIBTUNE_INPUTS adds no inputs: " + lacks("extra/capture", "reads captured frames"));
  }
  return nullptr;
}

device_setter& refuse_settings() {
  static never_destroyed<no_setter> refuses;
  return *refuses;
}

void ignore_answer(const tuning_subject&, tuning_origin) noexcept {}
void ignore_live_change(const live_event&) noexcept {}

// Before any other initialisation.
constinit doors of_program{.find_source = find_no_source,
                           .tunes_later = tunes_nothing_later,
                           .add_observers = add_no_observers,
                           .add_probes = add_no_probes,
                           .find_inputs = find_no_inputs,
                           .setter = refuse_settings,
                           .answered = ignore_answer,
                           .live_changed = ignore_live_change};

}  // namespace

doors& open_doors() noexcept { return of_program; }

bool can_tune_later() noexcept { return of_program.tunes_later != tunes_nothing_later; }

std::string lacks(std::string_view neighbour, std::string_view does) {
  const std::string_view target = neighbour.substr(neighbour.rfind('/') + 1);
  return fmt::format(
      "this program has no part of libtune that {}; link libtune::{} and include libtune/{}.hpp",
      does, target, neighbour);
}

bool names(const tuning_goal& goal, std::span<const char* const> metrics) {
  const auto is_one = [&](const auto& item) {
    return std::ranges::find(metrics, item.metric) != metrics.end();
  };
  return std::ranges::any_of(goal.objectives, is_one) ||
         std::ranges::any_of(goal.constraints, is_one);
}

}  // namespace tune::detail
