// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuned_key.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"

namespace tune {

tuned_key::tuned_key(const autotuner_core& asked, const tune::context& on, const values& arguments,
                     const tuning_options& given)
    : core(asked),
      context(on),
      options(given),
      subject{.function = asked.identity().name,
              .version = asked.identity().version,
              .arguments = arguments,
              .device = on.device().info(),
              .test_default = asked.test_default()} {
  const tuning_goal goal = resolve_goal(given, asked.goal());
  if (goal.is_time()) return;
  of_goal = asked.identity();
  of_goal->name = detail::name_with_goal(of_goal->name, goal);
}

void tuned_key::resolve() {
  settings = resolve_settings(options);
  plan = {settings.mode, settings.match};
}

void tuned_key::open_databases() {
  const auto access = settings.mode == tuning_mode::cached ? database_access::read_only
                                                           : database_access::read_write;
  layers = open_layers(settings, access);
  database = layers->user();
}

const std::string& tuned_key::search() const {
  if (search_.empty()) search_ = search_name(identity(), key());
  return search_;
}

const std::string& tuned_key::name() const {
  if (name_.empty()) name_ = detail::tuning_name(database ? database->path() : "", search());
  return name_;
}

std::chrono::milliseconds tuned_key::patience() const {
  const tuning_options& search = settings.search;
  auto time = search.budget ? search.budget->time : std::nullopt;
  if (search.longest_search) time = std::min(time.value_or(no_ready_limit), *search.longest_search);
  if (!time) return settings.wait();
  const auto budget = std::chrono::ceil<std::chrono::milliseconds>(*time);
  return std::min(settings.wait(), budget + search.watchdog.floor.value_or(default_trial_time));
}

void tuned_key::require_no_capture() const {
  const std::string capture = context.impl()->find_capture();
  if (capture.empty()) return;
  throw device_error(
      "tuning " + describe(subject), subject.device.identity.name,
      "there is no result for this key, and a tuning now would break " + capture +
          ", which is left as it is. Ask for the tuning before the capture, where the template is "
          "constructed, or tune ahead of use (tunedb pretune)");
}

void detail::log_once(const std::string& key, const std::string& text) {
  struct known_keys {
    std::mutex mutex;
    std::set<std::string> told;
  };
  static detail::never_destroyed<known_keys> known;
  const std::lock_guard lock(known->mutex);
  if (known->told.insert(key).second) log(log_level::info, text);
}

}  // namespace tune
