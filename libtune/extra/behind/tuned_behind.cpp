// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/tuned_behind.hpp"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

#include "libtune/extra/behind/background_tuner.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/tuning_call.hpp"

namespace tune::detail {
namespace {

/// Hands a result to those who use the key.
void publish(const tuned_key& of, const record& found) {
  std::optional<run_time> score;
  if (found.score_ns && found.grade == match_grade::exact) score = run_time(*found.score_ns);
  tuning_news::shared().publish(
      {.function = of.identity(), .key = of.key(), .values = found.values, .score = score});
}

}  // namespace

bool request_tuning_behind(const tuned_key& key, bool has_nearest, tuning_mode mode) {
  // A result of another device is often nearly as fast.
  constexpr double gain_on_nearest = 0.25;
  if (!key.plan.is_behind() && mode != tuning_mode::force) return false;
  const auto refuse = [&](const char* why) {
    log_once("not behind\n" + key.name(),
             fmt::format("{} is not tuned behind this program: {}", describe(key.subject), why));
    return false;
  };
  if (key.core.is_repeatable()) {
    return refuse(
        "the function of a bare kernel or a sequence is made for a call; tune it ahead (tunedb "
        "pretune), or in the mode tune");
  }
  if (key.of_goal) return refuse("its goal is not the time, which needs a free device");
  // The environment may change before the tuning, and other threads do not read it.
  tuning_options resolved = as_options(key.settings);
  resolved.mode = mode;
  return background_tuner::shared().ask({.name = key.name(),
                                         .function = key.core.weak_from_this(),
                                         .context = key.context,
                                         .key = key.subject.arguments,
                                         .options = std::move(resolved),
                                         .text = describe(key.subject),
                                         .gain = has_nearest ? gain_on_nearest : 1});
}

bool request_new_tuning_behind(const autotuner_core& core, const context& on,
                               const std::vector<named_value>& key, const tuning_options& options) {
  tuned_key asked(core, on, key, options);
  asked.resolve();
  if (!asked.settings.lock.empty()) return false;
  asked.open_databases();
  return request_tuning_behind(asked, false, tuning_mode::force);
}

// Uses the nearest result first, if its check takes too long for the application to wait.
bool tune_behind(const autotuner_core& core, const context& on,
                 const std::vector<named_value>& arguments, const tuning_options& options,
                 const background_task& work) {
  tuning_call call(core, on, arguments, options);
  tuned_key& key = call.key();
  const key_lookup& lookup = call.lookup();
  key.behind = &work;
  key.settings = resolve_settings(key.options);
  key.settings.search.given_by = option_source::application;  // as text; it has been resolved
  // A process with the lowest priority may be delayed by the application.
  constexpr int patience_on_cpu = 6;
  if (key.context.device().kind() == device_kind::cpu) {
    auto& floor = key.settings.search.watchdog.floor;
    floor = patience_on_cpu * floor.value_or(default_trial_time);
  }
  const match_mode match =
      key.settings.match == match_mode::verify ? match_mode::verify : match_mode::exact;
  const bool again = key.options.mode == tuning_mode::force;
  key.settings.mode = again ? tuning_mode::force : tuning_mode::tune;
  key.plan = {key.settings.mode, match};
  key.open_databases();
  if (!again) {
    if (auto found = lookup.if_valid(lookup.find_exact())) {
      publish(key, *found);
      return true;
    }
    const bool is_chosen = key.layers->chosen_nearest(key.identity(), key.key()).has_value();
    if (!is_chosen) {
      if (const auto nearest = lookup.find_nearest()) publish(key, *nearest);
    }
  }
  call.tune_once();
  const auto made = lookup.find_exact();
  if (!made) throw error("another process is tuning it, or its result could not be read");
  publish(key, *made);
  return !made->database.empty() || !key.database;
}

}  // namespace tune::detail
