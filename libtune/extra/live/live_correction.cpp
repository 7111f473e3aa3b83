// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/live_correction.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune::detail {
namespace {

std::shared_ptr<tuning_database> database_of(const context& context, database_access access) {
  if (current_test_mode() != test_mode::off) return nullptr;
  const tuning_settings settings = resolve_settings(*tuning_options_of(context));
  if (!settings.lock.empty()) return nullptr;
  if (access == database_access::read_write && settings.mode == tuning_mode::cached) return nullptr;
  return open_layers(settings, access)->user();
}

/// Notes the reason in the trial of the latest search that measured a configuration.
void note_in_trial(tuning_database& database, const better_tuning& wrong,
                   const std::string& reason) {
  const auto search = database.latest_search(wrong.function, wrong.key);
  if (!search) return;
  const auto found = std::ranges::find(search->trials, wrong.values, &stored_trial::configuration);
  if (found == search->trials.end()) return;
  stored_trial noted = *found;
  noted.message = std::string(taken_back_mark) + reason;
  database.add_trials(search->id, {}, {&noted, 1});
}

}  // namespace

std::optional<better_tuning> find_stored_result(const context& context,
                                                const function_identity& function,
                                                const record_key& key) {
  std::optional<better_tuning> found;
  warn_on_database_error([&] {
    const auto database = database_of(context, database_access::read_only);
    if (!database) return;
    auto stored = database->find(function, key);
    if (!stored) return;
    found = {.function = function, .key = key, .values = std::move(stored->values)};
    if (stored->score_ns) found->score = run_time(*stored->score_ns);
  });
  return found;
}

void take_back_result(const context& context, const better_tuning& wrong,
                      const std::optional<result_before>& before, const std::string& reason) {
  warn_on_database_error([&] {
    const auto database = database_of(context, database_access::read_write);
    if (!database) return;
    const auto stored = database->find_patiently(wrong.function, wrong.key);
    if (!stored || stored->values != wrong.values) return;
    note_in_trial(*database, wrong, reason);
    if (before) database->store(wrong.function, wrong.key, before->values, before->score_ns);
  });
}

}  // namespace tune::detail
