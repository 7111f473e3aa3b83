// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The calls of an autotuner in the mode behind: what asks for a key, and what tunes it later.
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

#include "libtune/tune/behind/background_tuner.hpp"
#include "libtune/tune/behind/tuning_news.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/tuning_call.hpp"

namespace tune {

// Returns true if the key is tuned behind the application from now on.
bool tuning_call::is_tuned_behind(bool has_nearest, tuning_mode mode) {
  // A result of another device is often nearly as fast.
  constexpr double gain_on_nearest = 0.25;
  if (!plan_.is_behind() && mode != tuning_mode::force) return false;
  const auto refuse = [&](const char* why) {
    log_once("not behind\n" + name(),
             fmt::format("{} is not tuned behind this program: {}", describe(subject_), why));
    return false;
  };
  if (core_.is_repeatable()) {
    return refuse(
        "the function of a bare kernel or a sequence is made for a call; tune it ahead (tunedb "
        "pretune), or in the mode tune");
  }
  if (of_goal_) return refuse("its goal is not the time, and needs a device that is free");
  // The environment may change until it is tuned, and is not read on other threads.
  tuning_options resolved = settings_.search;
  if (settings_.shared_database.empty() && !settings_.database.empty()) {
    resolved.database = settings_.database;
  }
  resolved.system_databases = settings_.system_databases;
  resolved.shared_store = settings_.shared_store;
  resolved.push_results = settings_.push_results;
  resolved.report = settings_.report;
  resolved.match = settings_.match;
  resolved.mode = mode;
  resolved.given_by = option_source::command;
  return detail::background_tuner::shared().ask({.name = name(),
                                                 .function = core_.weak_from_this(),
                                                 .context = context_,
                                                 .key = subject_.arguments,
                                                 .options = std::move(resolved),
                                                 .text = describe(subject_),
                                                 .gain = has_nearest ? gain_on_nearest : 1});
}

bool tuning_call::tune_again_behind() {
  settings_ = resolve_settings(options_);
  if (!settings_.lock.empty()) return false;
  open_databases();
  return is_tuned_behind(false, tuning_mode::force);
}

// First the nearest result, where to check it takes too long for the application to wait.
bool tuning_call::tune_behind(const background_task& work) {
  behind_ = &work;
  settings_ = resolve_settings(options_);
  settings_.search.given_by = option_source::application;  // in words; it has been resolved
  // A process of the lowest priority takes as long as the application lets it.
  constexpr int patience_on_cpu = 6;
  if (context_.device().kind() == device_kind::cpu) {
    auto& floor = settings_.search.watchdog.floor;
    floor = patience_on_cpu * floor.value_or(default_trial_time);
  }
  const match_mode match =
      settings_.match == match_mode::verify ? match_mode::verify : match_mode::exact;
  const bool again = options_.mode == tuning_mode::force;
  settings_.mode = again ? tuning_mode::force : tuning_mode::tune;
  plan_ = {settings_.mode, match};
  open_databases();
  if (!again) {
    if (auto found = if_valid(find_exact())) {
      publish(*found);
      return true;
    }
    const bool is_chosen = layers_->chosen_nearest(identity(), key()).has_value();
    if (!is_chosen) {
      if (const auto nearest = find_nearest()) publish(*nearest);
    }
  }
  tune_once();
  const auto made = find_exact();
  if (!made) throw error("another process is tuning it, or its result could not be read");
  publish(*made);
  return !made->database.empty() || !database_;
}

void tuning_call::publish(const record& found) const {
  std::optional<run_time> score;
  if (found.score_ns && found.grade == match_grade::exact) score = run_time(*found.score_ns);
  tuning_news::shared().publish(
      {.function = identity(), .key = key(), .values = found.values, .score = score});
}

}  // namespace tune
