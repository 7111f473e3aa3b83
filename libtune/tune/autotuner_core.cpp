// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/autotuner_core.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/record_memory.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/key_lock.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/elsewhere.hpp"
#include "libtune/tune/engine/incident_recorder.hpp"
#include "libtune/tune/engine/kernel_change.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/patient_wait.hpp"
#include "libtune/tune/engine/single_flight.hpp"
#include "libtune/tune/engine/tolerant.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/notify.hpp"
#include "libtune/tune/registry.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/usable_match.hpp"

namespace tune {
namespace {

lookup_grade to_lookup_grade(const std::optional<record>& found) {
  if (!found) return lookup_grade::miss;
  return found->grade == match_grade::exact ? lookup_grade::exact : lookup_grade::nearest;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Which results of which autotuners the present space allows, as far as this process knows.
class known_standings {
 public:
  static known_standings& instance() {
    static detail::never_destroyed<known_standings> known;
    return *known;
  }

  std::optional<bool> find(const autotuner_core* of, const std::string& result) const {
    const std::lock_guard lock(mutex_);
    const auto all = standings_.find(of);
    if (all == standings_.end()) return std::nullopt;
    const auto one = all->second.find(result);
    return one == all->second.end() ? std::nullopt : std::optional(one->second);
  }
  void note(const autotuner_core* of, const std::string& result, bool allowed) {
    const std::lock_guard lock(mutex_);
    standings_[of][result] = allowed;
  }
  void forget(const autotuner_core* of) {
    const std::lock_guard lock(mutex_);
    standings_.erase(of);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const autotuner_core*, std::unordered_map<std::string, bool>> standings_;
};

std::string result_name(const tuning_subject& subject, const std::vector<named_value>& values) {
  return canonical_text(subject.device.identity) + '\n' + canonical_text(subject.arguments) + '\n' +
         canonical_text(values);
}

single_flight& searches_in_flight() {
  static detail::never_destroyed<single_flight> flights;
  return *flights;
}

std::string folder_of_locks(const std::shared_ptr<tuning_database>& database) {
  return database ? key_lock::folders(database->path()).front() : std::string();
}

}  // namespace

/// One call of an autotuner, with all that has been resolved for it.
struct autotuner_core::request {
  const tune::context& context;
  const tuning_options& options;
  const function_identity& identity;
  tuning_subject subject;
  tuning_settings settings;
  std::shared_ptr<const tuning_layers> layers;
  std::shared_ptr<tuning_database> database;  // null: nowhere to keep results
  std::optional<std::string> failed_at{};     // when the last search found nothing, on a miss
  mutable std::string search_text{};
  mutable std::string name_text{};

  record_key key() const { return {subject.arguments, subject.device.identity}; }
  // Made when they are needed, for most lookups need neither.
  const std::string& search() const {
    if (search_text.empty()) search_text = search_name(identity, key());
    return search_text;
  }
  const std::string& name() const {
    if (name_text.empty())
      name_text = detail::tuning_name(database ? database->path() : "", search());
    return name_text;
  }
  bool wants_verification() const { return settings.match == match_mode::verify && may_tune(); }
  bool may_tune() const {
    return settings.mode == tuning_mode::tune || settings.mode == tuning_mode::resume;
  }
  bool wants_nearest() const {
    return settings.match != match_mode::exact && !wants_verification();
  }
  // Whether it tunes although there is a result.
  bool is_renewed() const {
    return settings.mode == tuning_mode::force || settings.mode == tuning_mode::resume;
  }
  // Who may spend so much on a search does not wait for another's for much longer.
  std::chrono::milliseconds patience() const {
    if (!settings.budget.time) return settings.wait;
    const auto budget = std::chrono::ceil<std::chrono::milliseconds>(*settings.budget.time);
    return std::min(settings.wait, budget + resolve_trial_time(options.watchdog));
  }
};

autotuner_core::autotuner_core(function_identity identity, values test_default, function tunes,
                               check_function check)
    : identity_(std::move(identity)),
      test_default_(std::move(test_default)),
      tunes_(std::move(tunes)),
      check_(std::move(check)) {
  check_function_names(identity_);
  autotuner_registry::instance().add(*this, check_);
}

// In a forked process a thread of the parent may have the locks, for ever.
autotuner_core::~autotuner_core() {
  if (detail::is_forked()) return;
  autotuner_registry::instance().remove(*this);
  known_standings::instance().forget(this);
}

autotuner_core::values autotuner_core::obtain(const tune::context& context, const values& key,
                                              const tuning_options& options) const {
  const auto what = [&] {
    return fmt::format("obtain the tuning of '{}' for {} on device '{}'", identity_.name,
                       key.empty() ? "its only key" : to_string(key), context.device().name());
  };
  detail::refuse_if_forked(what);
  detail::check_seal(sealed_action::tune, what);
  const detail::test_mode testing = detail::current_test_mode();
  if (testing == detail::test_mode::defaults) return test_default_;

  autotuner_registry::instance().keep_at_exit();
  autotuner_registry::instance().require_unique(*this);
  request asked{.context = context,
                .options = options,
                .identity = identity_,
                .subject = {.function = identity_.name,
                            .version = identity_.version,
                            .arguments = key,
                            .device = context.device().info(),
                            .test_default = test_default_},
                .settings = {},
                .layers = nullptr,
                .database = nullptr};
  if (testing == detail::test_mode::forced) return tune_for_test(asked);
  asked.settings = resolve_settings(options);
  asked.layers =
      open_layers(asked.settings.database, asked.settings.system_databases,
                  asked.settings.mode == tuning_mode::cached ? database_access::read_only
                                                             : database_access::read_write,
                  asked.settings.shared_database);
  asked.database = asked.layers->user();
  if (asked.is_renewed()) {
    if (auto made = detail::made_inside(asked.name())) return *std::move(made);
    const bool was_renewed =
        asked.settings.mode_of_process && detail::is_tuned_in_process(asked.name());
    if (was_renewed) asked.settings.mode = tuning_mode::tune;
  }
  if (asked.settings.mode == tuning_mode::force || goes_on(asked)) return renew(asked);
  if (auto found = look_up(asked)) return *std::move(found);
  missed_keys(asked.settings.missed).remember(identity_, asked.key());
  switch (asked.settings.mode) {
    case tuning_mode::cached:
      throw not_tuned_error(asked.subject, asked.settings.database, asked.failed_at);
    case tuning_mode::defaults:
      log(log_level::info,
          "no tuning result for " + describe(asked.subject) + "; the test default is used");
      return test_default_;
    case tuning_mode::tune:
    case tuning_mode::resume:
    case tuning_mode::force: break;
  }
  return tune_once(asked);
}

// The columns may be right and a value still be none of the present tuning.
std::optional<record> autotuner_core::if_a_tuning(const request& asked,
                                                  std::optional<record> found) const {
  if (!found) return std::nullopt;
  try {
    check_(found->values);
  } catch (const argument_error& foreign) {
    warn_once(fmt::format(
        "the result for {} in '{}' counts as not there, for it is no tuning any more: {}; raise "
        "the version of the autotune function",
        describe(asked.subject), found->database, foreign.what()));
    return std::nullopt;
  }
  const std::string result = result_name(asked.subject, found->values);
  std::optional<bool> allowed = known_standings::instance().find(this, result);
  if (!allowed) {
    const auto look = [&]() -> values { return find_standing(asked, *found, result); };
    const auto told = searches_in_flight().share("standing\n" + asked.name() + '\n' + result, look,
                                                 asked.settings.wait);
    allowed = !told || !told->empty();
  }
  return *allowed ? found : std::nullopt;
}

// Something if the present space allows it, else nothing.
autotuner_core::values autotuner_core::find_standing(const request& asked, const record& found,
                                                     const std::string& result) const {
  const auto was_in_space = [&] {
    const auto origin = asked.layers->origin(identity_, asked.subject.arguments, found);
    return origin && origin->search.stage == 0;
  };
  tuning_options options = asked.options;
  options.observers.clear();
  const auto reason =
      why_forbidden(found.values, asked.context, asked.subject, options, tunes_, was_in_space);
  known_standings::instance().note(this, result, !reason);
  if (!reason) return {{"allowed", true}};
  warn_once(fmt::format(
      "the result for {} in '{}' ({}) counts as not there: {}; raise the version of the autotune "
      "function when its space changes",
      describe(asked.subject), found.database, to_string(found.values), *reason));
  return {};
}

std::optional<autotuner_core::values> autotuner_core::look_up(request& asked) const {
  const auto start = std::chrono::steady_clock::now();
  std::optional<record> found = if_a_tuning(asked, asked.layers->find(identity_, asked.key()));
  if (!found && asked.wants_nearest()) found = find_nearest(asked);
  if (!found && asked.database) asked.failed_at = find_failure(asked);
  if (!asked.options.observers.empty()) {
    const lookup_event event{.subject = asked.subject,
                             .grade = to_lookup_grade(found),
                             .relaxed = found ? found->relaxed : std::vector<std::string>{},
                             .values = found ? found->values : values{},
                             .database = found ? found->database : asked.settings.database,
                             .elapsed = std::chrono::steady_clock::now() - start,
                             .failed_at = asked.failed_at,
                             .step = found ? found->step : match_step::exact,
                             .device = found ? found->device : device_identity{}};
    notify(asked.options.observers, [&](observer& listener) { listener.looked_up(event); });
  }
  if (!found) return std::nullopt;
  if (found->grade == match_grade::exact && !found->remembered) {
    watch_for_kernel_change(asked.layers, identity_, asked.subject, *found);
  }
  if (found->grade == match_grade::nearest) {
    warn_once(fmt::format("{} uses the result of device '{}' ({}, {}), which differs in {}",
                          describe(asked.subject), found->device.name, found->device.platform,
                          found->device.driver_version, joined(found->relaxed)));
  }
  return std::move(found->values);
}

// Threads that want the same share the check of what is found, and a function whose check asks for
// its own result is told so by the flight instead of checking for ever.
std::optional<record> autotuner_core::find_nearest(const request& asked) const {
  if (auto chosen = asked.layers->chosen_nearest(identity_, asked.key())) return chosen;
  const std::uint64_t generation = record_memory::shared().generation();
  const std::vector<record> candidates = asked.layers->find_nearest(identity_, asked.key());
  if (candidates.empty()) return std::nullopt;
  const device_lease::pause others_measure;
  const auto check = [&]() -> values {
    tuning_options options = asked.options;
    options.wait = asked.settings.wait;
    const auto denylist =
        std::make_shared<incident_recorder>(asked.database, identity_, asked.key());
    options.observers.clear();
    if (asked.settings.mode != tuning_mode::cached) options.observers = {denylist};
    const tuning_task task{
        .context = asked.context,
        .function = identity_,
        .tunes = tunes_,
        .subject = asked.subject,
        .options = options,
        .read_prior = [&](const search_identity& search) { return denylist->read_prior(search); }};
    trial_in_child elsewhere;
    if (detail::runs_in_child(options)) {
      elsewhere = [&](const values& tried) { return detail::try_in_child(task, tried); };
    }
    const auto usable =
        find_usable(candidates, asked.context, asked.subject, options, tunes_, elsewhere);
    if (!usable) return {};
    asked.layers->choose_nearest(identity_, asked.key(), *usable, generation);
    return {{"device", canonical_text(usable->device)}};
  };
  const auto made =
      searches_in_flight().share("check\n" + asked.name(), check, asked.settings.wait);
  if (!made || made->empty()) return std::nullopt;
  const auto chosen = std::ranges::find_if(candidates, [&](const record& candidate) {
    return value(canonical_text(candidate.device)) == made->front().value;
  });
  return chosen == candidates.end() ? std::nullopt : std::optional(*chosen);
}

verification autotuner_core::plan_verification(const request& asked) const {
  verification known{.test_default = test_default_};
  if (!asked.wants_verification()) return known;
  known.winners = asked.layers->find_nearest(identity_, asked.key());
  if (known.empty()) return known;
  known.trials = asked.layers->trials(identity_, asked.subject.arguments, known.winners.front());
  return known;
}

std::optional<std::string> autotuner_core::find_failure(const request& asked) const {
  std::optional<stored_search> last;
  warn_on_database_error([&] {
    try {
      last = asked.database->latest_search_result(identity_, asked.key(), database_waits{}.read);
    } catch (const database_busy_error&) {  // it is not worth a wait
    }
  });
  if (!last || !last->finished_at || last->result != all_failed) return std::nullopt;
  log(log_level::info, fmt::format("the last search for {}, of {}, found no configuration that "
                                   "works; its reasons are with its trials in the database",
                                   describe(asked.subject), *last->finished_at));
  return last->finished_at;
}

// Once for all calls of a process, or of the tuning that they are made in: the configurations of
// one search are comparable only if what they call is the same for all of them.
autotuner_core::values autotuner_core::renew(const request& asked) const {
  values made = tune_once(asked);
  detail::keep_made(asked.name(), made, asked.settings.mode_of_process);
  return made;
}

autotuner_core::values autotuner_core::tune_once(const request& asked) const {
  detail::leave_if_only_looking();
  require_another(asked);
  const device_lease::pause others_measure;
  patient_wait waits(asked.name(), asked.subject, asked.options, asked.patience());
  const auto look = [&](std::chrono::nanoseconds waited) {
    waits.look(waited, ::getpid(), folder_of_locks(asked.database));
  };
  try {
    auto made = searches_in_flight().share(
        asked.name(), [&] { return tune_in_turn(asked); }, asked.patience(), look);
    return made ? *std::move(made) : do_without(asked);
  } catch (const goes_on_without&) {
    waits.end();
    return tune_without_right(asked);
  }
}

void autotuner_core::require_another(const request& asked) const {
  const auto around = detail::scopes();
  const bool is_around = std::ranges::find(around, asked.name()) != around.end();
  if (!is_around && !detail::is_under_way(asked.subject)) return;
  throw argument_error(
      "an autotune function asks for its own result while it is tuning; construct the template "
      "with the tuning that it was given");
}

// Whether there is a search to go on with, that its budget ended.
bool autotuner_core::goes_on(const request& asked) const {
  if (asked.settings.mode != tuning_mode::resume || !asked.database) return false;
  std::optional<stored_search> last;
  warn_on_database_error(
      [&] { last = asked.database->latest_search_result(identity_, asked.key()); });
  return last && last->finished_at && last->result == stopped_search;
}

// Another thread or process may have stored the result between the lookup and now. Where the
// database is kept by others, as by one that was stopped in the middle of a write, it may hold the
// result all the same: nobody searches before it could be read.
autotuner_core::values autotuner_core::tune_in_turn(const request& asked) const {
  if (asked.settings.mode == tuning_mode::force || !asked.database) {
    const detail::tuning_scope now(asked.name());
    return tune_and_store(asked);
  }
  patient_wait waits(asked.name(), asked.subject, asked.options, asked.patience());
  key_lock lock(asked.database->path(), asked.search());
  const auto look = [&](std::chrono::nanoseconds waited) {
    waits.look(waited, lock.holder(), lock.folder());
  };
  try {
    if (!lock.take(asked.patience(), look)) return do_without(asked);
  } catch (const goes_on_without&) {
    waits.end();
    return tune_without_right(asked);
  }
  waits.end();
  const detail::tuning_scope now(asked.name());
  if (goes_on(asked)) return tune_and_store(asked);
  std::optional<record> found;
  constexpr std::chrono::milliseconds at_a_time{400};
  try {
    wait_while_busy(
        asked.patience(),
        [&] {
          found =
              asked.database->find_patiently(identity_, asked.key(), match_mode::exact, at_a_time);
        },
        [&](std::chrono::nanoseconds waited) {
          waits.look_for_database(waited, asked.database->path());
        });
  } catch (const database_busy_error& failure) {
    detail::warn_of_failure(failure);
    return do_without(asked);
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  }
  waits.end();
  found = if_a_tuning(asked, std::move(found));
  return found ? std::move(found->values) : tune_and_store(asked);
}

// Two that wait for each other would do so as long as they may: one goes on, and the first result
// that is stored counts for both.
autotuner_core::values autotuner_core::tune_without_right(const request& asked) const {
  log(log_level::info, describe(asked.subject) +
                           ": who tunes it waits for a tuning that this one is a part of, so it is "
                           "tuned here, too");
  const detail::tuning_scope now(asked.name());
  return tune_and_store(asked, search_start::anew);
}

autotuner_core::values autotuner_core::tune_and_store(const request& asked,
                                                      search_start start) const {
  log(log_level::info, "tuning " + describe(asked.subject));
  tuning_options options = asked.options;
  options.wait = asked.settings.wait;
  options.budget = asked.settings.budget;
  tuning_task task{.context = asked.context,
                   .function = identity_,
                   .tunes = tunes_,
                   .subject = asked.subject,
                   .options = options,
                   .choice = {.known = plan_verification(asked)},
                   .database = asked.database ? asked.database->path() : std::string()};
  if (!asked.database) {
    warn_once("tuning results are not kept: neither LIBTUNE_DB, XDG_CACHE_HOME nor HOME is set");
    values best = run_tuning(task).values;
    asked.layers->remember(identity_, asked.key(), best);
    known_standings::instance().note(this, result_name(asked.subject, best), true);
    return best;
  }
  tuning_transaction kept(
      asked.layers, identity_, asked.key(), asked.settings.mode,
      [&](const record& found) { return if_a_tuning(asked, found).has_value(); },
      asked.settings.wait, start);
  options.observers.push_back(kept.recorder());
  task.read_prior = [&](const search_identity& search) { return kept.read_prior(search); };
  const tuned_values made = run_tuning(task);
  known_standings::instance().note(this, result_name(asked.subject, made.values), true);
  return kept.store(made);
}

// Tests tune where they run, unless they are about isolation, and wait briefly for others. What is
// tuned inside another is tuned once in that one, as it would be with a database.
autotuner_core::values autotuner_core::tune_for_test(const request& asked) const {
  constexpr std::chrono::seconds test_wait{2};
  if (auto made = detail::made_inside(asked.name())) return *std::move(made);
  require_another(asked);
  tuning_options options = asked.options;
  if (options.isolation != isolation_mode::on) options.isolation = isolation_mode::off;
  options.wait = resolve_wait(options, test_wait);
  const device_lease::pause others_measure;
  values made;
  {
    const detail::tuning_scope now(asked.name());
    made = run_tuning({.context = asked.context,
                       .function = identity_,
                       .tunes = tunes_,
                       .subject = asked.subject,
                       .options = options})
               .values;
  }
  detail::keep_made(asked.name(), made, false);
  return made;
}

autotuner_core::values autotuner_core::do_without(const request& asked) const {
  std::optional<record> found = if_a_tuning(asked, asked.layers->find(identity_, asked.key()));
  if (!found) found = find_nearest(asked);
  if (found && found->grade == match_grade::exact) return std::move(found->values);
  warn_once(fmt::format(
      "{}: another thread or process has been tuning it for longer than LIBTUNE_WAIT or the budget "
      "allows "
      "({} ms); {} is used",
      describe(asked.subject), asked.patience().count(),
      found ? "the result of device '" + found->device.name + "'" : "the test default"));
  return found ? std::move(found->values) : test_default_;
}

std::shared_ptr<const autotuner_core> detail::make_autotuner(autotuner_parts parts) {
  return std::make_shared<const autotuner_core>(
      function_identity{std::move(parts.name), parts.version, std::move(parts.key_fields),
                        std::move(parts.tuning_fields)},
      std::move(parts.test_default), std::move(parts.tunes), std::move(parts.check));
}

std::vector<named_value> detail::obtain_tuning(const autotuner_core& core, const context& context,
                                               const std::vector<named_value>& key,
                                               const tuning_options* options) {
  if (options != nullptr) return core.obtain(context, key, *options);
  return core.obtain(context, key, *tuning_options_of(context));
}

std::vector<const autotuner_core*> registered_autotuners() {
  return autotuner_registry::instance().all();
}

}  // namespace tune
