// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuning_call.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <set>
#include <unistd.h>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/single_flight.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/locked_lookup.hpp"
#include "libtune/tune/result_validation.hpp"

namespace tune {
namespace {

lookup_grade grade_of(const std::optional<record>& found) {
  if (!found) return lookup_grade::miss;
  return found->grade == match_grade::exact ? lookup_grade::exact : lookup_grade::nearest;
}

std::string result_name(const tuning_subject& subject, const std::vector<named_value>& values) {
  return canonical_text(subject.device.identity) + '\n' + canonical_text(subject.arguments) + '\n' +
         canonical_text(values);
}

/// The wait of one attempt to read a database that others hold.
constexpr std::chrono::milliseconds at_a_time{50};

single_flight& searches_in_flight() {
  static detail::never_destroyed<single_flight> flights;
  return *flights;
}

}  // namespace

tuning_call::tuning_call(const autotuner_core& core, const tune::context& context,
                         const values& key, const tuning_options& options)
    : core_(core),
      context_(context),
      options_(options),
      subject_{.function = core.identity().name,
               .version = core.identity().version,
               .arguments = key,
               .device = context.device().info(),
               .test_default = core.test_default()} {
  const tuning_goal goal = resolve_goal(options, core.goal());
  if (goal.is_time()) return;
  of_goal_ = core.identity();
  of_goal_->name = detail::name_with_goal(of_goal_->name, goal);
}

const std::string& tuning_call::search() const {
  if (search_.empty()) search_ = search_name(identity(), key());
  return search_;
}

const std::string& tuning_call::name() const {
  if (name_.empty()) name_ = detail::tuning_name(database_ ? database_->path() : "", search());
  return name_;
}

// A call waits for another search of the key for little longer than its own may take.
std::chrono::milliseconds tuning_call::patience() const {
  const tuning_options& search = settings_.search;
  if (!search.budget || !search.budget->time) return settings_.wait();
  const auto budget = std::chrono::ceil<std::chrono::milliseconds>(*search.budget->time);
  return std::min(settings_.wait(), budget + search.watchdog.floor.value_or(default_trial_time));
}

detail::graded_values tuning_call::answer() {
  settings_ = resolve_settings(options_);
  if (!settings_.lock.empty()) return {locked()};
  plan_ = {settings_.mode, settings_.match};
  open_databases();
  if (plan_.replaces()) {
    if (auto made = detail::made_inside(name())) return {*std::move(made)};
    if (settings_.mode_of_process && detail::is_tuned_in_process(name())) {
      settings_.mode = tuning_mode::tune;
      plan_ = {settings_.mode, settings_.match};
    }
  }
  lookup_candidates candidates{.stopped = has_stopped_search()};
  if (plan_.tunes_anew(candidates)) return {renew()};
  if (auto found = look_up()) {
    const lookup_grade grade = grade_of(found);
    const bool is_behind =
        grade == lookup_grade::nearest && detail::open_doors().tunes_later(*this, true);
    return {std::move(found->values), grade, is_behind};
  }
  if (!busy_) missed_keys(settings_.missed).remember(identity(), key());
  if (plan_.is_behind()) {
    const bool is_behind = detail::open_doors().tunes_later(*this, false);
    log_once(name(),
             fmt::format("no tuning result for {}; the test default is used{}", describe(subject_),
                         is_behind ? ", and the key is tuned behind" : ""));
    return {core_.test_default(), lookup_grade::miss, is_behind};
  }
  switch (plan_.step(candidates)) {
    case lookup_step::fail:
      if (busy_) throw database_busy_error(*busy_);
      throw not_tuned_error(subject_, settings_.database, failed_at_);
    case lookup_step::test_default:
      log(log_level::info,
          "no tuning result for " + describe(subject_) + "; the test default is used");
      return {core_.test_default(), lookup_grade::miss};
    default: return {tune_once()};
  }
}

tuning_call::values tuning_call::locked() const {
  const auto start = std::chrono::steady_clock::now();
  record found = find_locked(settings_.lock, context_, identity(), subject_);
  try {
    core_.check(found.values);
  } catch (const argument_error& foreign) {
    throw not_locked_error(
        subject_, settings_.lock,
        fmt::format("{} is no tuning any more: {}", to_string(found.values), foreign.what()));
  }
  report_lookup(found, std::chrono::steady_clock::now() - start);
  return std::move(found.values);
}

// A trial may be of another space than the present one, so that its values have to be checked.
std::vector<tuning_call::values> tuning_call::finalists(std::size_t most) {
  std::vector<values> all{obtain()};
  if (!settings_.lock.empty()) return all;
  const auto found = find_exact();
  if (!found || found->values != all.front()) return all;
  std::vector<stored_trial> trials = layers_->trials(identity(), subject_.arguments, *found);
  std::erase_if(trials, [](const stored_trial& each) { return !each.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& each) { return *each.score_ns / each.level; });
  for (const stored_trial& each : trials) {
    if (all.size() >= most) break;
    const bool is_new = std::ranges::find(all, each.configuration) == all.end();
    if (is_new && is_tuning_of_core(each.configuration)) all.push_back(each.configuration);
  }
  return all;
}

bool tuning_call::is_tuning_of_core(const values& configuration) const {
  try {
    core_.check(configuration);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}

void tuning_call::log_once(const std::string& key, const std::string& text) {
  struct known_keys {
    std::mutex mutex;
    std::set<std::string> told;
  };
  static detail::never_destroyed<known_keys> known;
  const std::lock_guard lock(known->mutex);
  if (known->told.insert(key).second) log(log_level::info, text);
}

void tuning_call::open_databases() {
  const auto access = settings_.mode == tuning_mode::cached ? database_access::read_only
                                                            : database_access::read_write;
  layers_ = open_layers(settings_, access);
  database_ = layers_->user();
}

// ---- the lookup

// Returns true if this call resumes a search that its budget ended.
bool tuning_call::has_stopped_search() const {
  if (!plan_.resumes() || !database_) return false;
  std::optional<stored_search> last;
  warn_on_database_error([&] { last = database_->latest_search_result(identity(), key()); });
  return last && last->finished_at && can_be_continued(last->result);
}

std::optional<std::string> tuning_call::find_failure() const {
  std::optional<stored_search> last;
  warn_on_database_error([&] {
    try {
      last = database_->latest_search_result(identity(), key(), at_a_time);
    } catch (const database_busy_error&) {  // it is not worth a wait
    }
  });
  if (!last || !last->finished_at || last->result != all_failed) return std::nullopt;
  log(log_level::info, fmt::format("the last search for {}, of {}, found no configuration that "
                                   "works; its reasons are with its trials in the database",
                                   describe(subject_), *last->finished_at));
  return last->finished_at;
}

std::optional<record> tuning_call::look_up() {
  const auto start = std::chrono::steady_clock::now();
  std::optional<record> found = if_valid(find_exact());
  if (!found && !busy_ && pull()) found = if_valid(find_exact());
  if (!found && !busy_ && plan_.uses_nearest()) found = find_nearest();
  if (!found && !busy_ && database_) failed_at_ = find_failure();
  report_lookup(found, std::chrono::steady_clock::now() - start);
  if (!found) return std::nullopt;
  if (found->grade == match_grade::exact && !found->remembered) {
    watch_for_kernel_change(context_, layers_, identity(), subject_, *found);
  }
  if (found->grade == match_grade::nearest) {
    warn_once(fmt::format("{} uses the result of device '{}' ({}, {}), which differs in {}",
                          describe(subject_), found->device.name, found->device.platform,
                          found->device.driver_version, fmt::join(found->relaxed, ", ")));
  }
  return found;
}

// A database that others hold may have the result: that is no miss.
std::optional<record> tuning_call::find_exact() const {
  constexpr std::chrono::milliseconds longest{10'000};
  const auto limit = std::min(settings_.wait(), longest);
  std::optional<record> found;
  std::optional<key_wait> waits;
  const auto look = [&](std::chrono::nanoseconds waited) {
    if (!database_) return;
    if (!waits) waits.emplace(name(), subject_, options_, limit);
    waits->look_for_database(waited, database_->path());
  };
  busy_.reset();
  try {
    wait_while_busy(
        limit, [&] { found = layers_->find(identity(), key(), at_a_time); }, look);
  } catch (const database_busy_error& failure) {
    detail::warn_of_failure(failure);
    busy_ = failure;
  }
  return found;
}

// Where no database has the key: a server is asked, while this thread holds no lock but that of a
// tuning around this call. Threads that want the same key wait for one answer.
bool tuning_call::pull() const {
  const auto store = detail::open_doors().find_source(settings_);
  if (!store || !context_.impl()->find_capture().empty()) return false;
  const device_lease::pause others_measure;
  const auto ask = [&]() -> values {
    const auto pulled = store->pull(identity(), key());
    if (pulled.unstored) layers_->remember(identity(), key(), *pulled.unstored);
    return pulled.any || pulled.unstored ? values{{"pulled", true}} : values{};
  };
  const auto made = searches_in_flight().share("pull\n" + name(), ask, settings_.wait());
  return made && !made->empty();
}

// A tuning around this one holds the lock of its key, so that it sends the result with its own.
void tuning_call::push() const {
  if (!settings_.push_results) return;
  if (const auto store = detail::open_doors().find_source(settings_)) {
    store->push(identity(), key(), !detail::scopes().empty());
  }
}

void tuning_call::report_lookup(const std::optional<record>& found,
                                std::chrono::nanoseconds elapsed) const {
  if (options_.observers.empty()) return;
  lookup_event event{.subject = subject_,
                     .grade = grade_of(found),
                     .relaxed = {},
                     .values = {},
                     .database = settings_.database,
                     .elapsed = elapsed,
                     .failed_at = failed_at_};
  if (found) {
    event.relaxed = found->relaxed;
    event.values = found->values;
    event.database = found->database;
    event.step = found->step;
    event.device = found->device;
  }
  detail::notify(options_.observers, event);
}

// Threads that want the same share the check of a candidate. The flight refuses a function whose
// check asks for its own result, which would check for ever.
std::optional<record> tuning_call::find_nearest() const {
  if (auto chosen = layers_->chosen_nearest(identity(), key())) return chosen;
  require_no_capture();
  const std::uint64_t generation = record_memory::shared().generation();
  const std::vector<record> candidates = layers_->find_nearest(identity(), key());
  if (candidates.empty()) return std::nullopt;
  const device_lease::pause others_measure;
  const auto check = [&]() -> values {
    const auto denylist = std::make_shared<incident_recorder>(database_, identity(), key());
    tuning_options options = settings_.search;
    options.observers.clear();
    if (settings_.mode != tuning_mode::cached) options.observers = {denylist};
    const tuning_task task{.context = context_,
                           .function = identity(),
                           .tunes = core_.tunes(),
                           .subject = subject_,
                           .options = options,
                           .read_prior = [&](const auto& to) { return denylist->read_prior(to); },
                           .behind = behind_};
    const auto usable =
        plan_.is_behind() ? find_usable_at_once(candidates, task) : find_usable(candidates, task);
    if (!usable) return {};
    layers_->choose_nearest(identity(), key(), *usable, generation);
    return {{"device", canonical_text(usable->device)}};
  };
  const auto made = searches_in_flight().share((plan_.is_behind() ? "look\n" : "check\n") + name(),
                                               check, settings_.wait());
  if (!made || made->empty()) return std::nullopt;
  const auto chosen = std::ranges::find_if(candidates, [&](const record& candidate) {
    return value(canonical_text(candidate.device)) == made->front().value;
  });
  return chosen == candidates.end() ? std::nullopt : std::optional(*chosen);
}

std::optional<record> tuning_call::if_valid(std::optional<record> found) const {
  return found && is_tuning(*found) && is_allowed(*found) ? std::move(found) : std::nullopt;
}

// The columns may be right and a value still be none of the present tuning.
bool tuning_call::is_tuning(const record& found) const {
  try {
    core_.check(found.values);
    return true;
  } catch (const argument_error& foreign) {
    warn_once(fmt::format(
        "the result for {} in '{}' counts as not there, for it is no tuning any more: {}; raise "
        "the version of the autotune function",
        describe(subject_), found.database, foreign.what()));
    return false;
  }
}

// Threads share the check of a result against the present space.
bool tuning_call::is_allowed(const record& found) const {
  const std::string result = result_name(subject_, found.values);
  if (const auto known = core_.validity().find(result)) return *known;
  // The check allocates. The next call that is no part of a capture makes it.
  if (!context_.impl()->find_capture().empty()) return true;
  const auto check = [&]() -> values {
    const auto was_in_space = [&] {
      const auto origin = layers_->origin(identity(), subject_.arguments, found);
      return origin && origin->search.stage == 0;
    };
    tuning_options options = options_;
    options.observers.clear();
    const auto reason = why_forbidden(found.values,
                                      {.context = context_,
                                       .function = identity(),
                                       .tunes = core_.tunes(),
                                       .subject = subject_,
                                       .options = options},
                                      was_in_space);
    core_.validity().note(result, !reason);
    if (!reason) return {{"allowed", true}};
    warn_once(fmt::format(
        "the result for {} in '{}' ({}) counts as not there: {}; raise the version of the autotune "
        "function when its space changes",
        describe(subject_), found.database, to_string(found.values), *reason));
    return {};
  };
  const auto told =
      searches_in_flight().share("standing\n" + name() + '\n' + result, check, settings_.wait());
  return !told || !told->empty();
}

void tuning_call::note_valid(const values& made) const {
  core_.validity().note(result_name(subject_, made), true);
}

// ---- the tuning

verification tuning_call::plan_verification() const {
  verification known{.test_default = core_.test_default()};
  if (!plan_.verifies()) return known;
  known.winners = layers_->find_nearest(identity(), key());
  if (known.empty()) return known;
  known.trials = layers_->trials(identity(), subject_.arguments, known.winners.front());
  return known;
}

// Once for all calls of a process, or of the tuning that they are made in: the configurations of
// one search are comparable only if what they call is the same for all of them.
tuning_call::values tuning_call::renew() const {
  values made = tune_once();
  detail::keep_made(name(), made, settings_.mode_of_process);
  return made;
}

// Before anything that a capture would not survive: a tuning allocates, waits and loads programs.
void tuning_call::require_no_capture() const {
  const std::string capture = context_.impl()->find_capture();
  if (capture.empty()) return;
  throw device_error(
      "tuning " + describe(subject_), subject_.device.identity.name,
      "there is no result for this key, and a tuning now would break " + capture +
          ", which is left as it is. Ask for the tuning before the capture, where the template is "
          "constructed, or tune ahead of use (tunedb pretune)");
}

tuning_call::values tuning_call::tune_once() const {
  detail::leave_if_only_looking();
  require_no_capture();
  require_another();
  const device_lease::pause others_measure;
  key_wait waits(name(), subject_, options_, patience());
  const auto look = [&](std::chrono::nanoseconds waited) {
    const auto folder = database_ ? key_lock::folders(database_->path()).front() : std::string();
    waits.look(waited, ::getpid(), folder);
  };
  bool leads = false;
  const auto lead = [&] {
    leads = true;
    return tune_in_turn();
  };
  try {
    auto made = searches_in_flight().share(name(), lead, patience(), look);
    if (std::exchange(is_new_, false)) push();
    return made ? *std::move(made) : do_without();
  } catch (const deadlock_found&) {
    waits.end();
    values made = tune_without_right();
    if (std::exchange(is_new_, false)) push();
    return made;
  } catch (const tuning_stopped_error&) {
    // Not for the thread that this one waited for, which its own caller has ended.
    if (leads || behind_ != nullptr || detail::is_stopped()) throw;
  } catch (const detail::memory_reclaimed&) {
    // Left by the thread that this one waited for.
    if (detail::memory_quota_scope::find(*context_.device().impl()) != nullptr) throw;
  }
  waits.end();
  return tune_once();
}

void tuning_call::require_another() const {
  const auto around = detail::scopes();
  const bool is_around = std::ranges::find(around, name()) != around.end();
  if (!is_around && !detail::is_under_way(subject_)) return;
  throw argument_error(
      "an autotune function asks for its own result while it is tuning; construct the template "
      "with the tuning that it was given");
}

// Another thread or process may have stored the result between the lookup and now.
tuning_call::values tuning_call::tune_in_turn() const {
  if (!plan_.uses_exact() || !database_) {
    const detail::tuning_scope now(name());
    return tune_and_store();
  }
  key_wait waits(name(), subject_, options_, patience());
  key_lock lock(database_->path(), search());
  const auto look = [&](std::chrono::nanoseconds waited) {
    if (behind_ != nullptr && behind_->stop()) {
      throw tuning_stopped_error(describe(subject_) + " is tuned behind this program later");
    }
    waits.look(waited, lock.holder(), lock.folder());
  };
  try {
    if (!lock.take(patience(), look)) return do_without();
  } catch (const deadlock_found&) {
    waits.end();
    return tune_without_right();
  }
  waits.end();
  const detail::tuning_scope now(name());
  if (plan_.tunes_anew({.stopped = has_stopped_search()})) return tune_and_store();
  std::optional<record> found;
  try {
    found = find_after_wait(waits);
  } catch (const database_busy_error& failure) {
    detail::warn_of_failure(failure);
    return do_without();
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  }
  waits.end();
  found = if_valid(std::move(found));
  return found ? std::move(found->values) : tune_and_store();
}

// A database that another process locks, such as one stopped in the middle of a write, may hold the
// result all the same: no search starts before it could be read.
std::optional<record> tuning_call::find_after_wait(key_wait& waits) const {
  std::optional<record> found;
  const auto look = [&](std::chrono::nanoseconds waited) {
    waits.look_for_database(waited, database_->path());
  };
  wait_while_busy(
      patience(),
      [&] { found = database_->find_patiently(identity(), key(), match_mode::exact, at_a_time); },
      look);
  return found;
}

// Two calls that wait for each other would both wait to their limit: one goes on without the lock,
// and the first result that is stored counts for both.
tuning_call::values tuning_call::tune_without_right() const {
  log(log_level::info, describe(subject_) +
                           ": the thread or process that tunes it waits for a tuning around this "
                           "one, so it is tuned here too");
  const detail::tuning_scope now(name());
  return tune_and_store(search_start::anew);
}

// A result is wanted for later where LIBTUNE_MODE asks for tuning. Other programs get one all the
// same, which this process keeps, and a warning.
bool tuning_call::is_asked_to_tune() const {
  return behind_ == nullptr && detail::scopes().size() == 1 && settings_.mode_of_process &&
         read_environment("LIBTUNE_MODE").has_value();
}

tuning_call::values tuning_call::tune_and_store(search_start start) const {
  log(log_level::info, "tuning " + describe(subject_));
  require_strategy(settings_.search);
  // Not of each search inside this one: a page is about what a person asks for.
  if (database_ && detail::scopes().size() == 1) {
    detail::open_doors().search_begins(settings_, identity());
  }
  tuning_options options = settings_.search;
  tuning_task task{.context = context_,
                   .function = identity(),
                   .tunes = core_.tunes(),
                   .subject = subject_,
                   .options = options,
                   .choice = {.known = plan_verification()},
                   .database = database_ ? database_->path() : std::string(),
                   .behind = behind_};
  if (behind_ != nullptr) start = search_start::behind;
  if (!database_) {
    warn_once("tuning results are not kept: neither LIBTUNE_DB, XDG_CACHE_HOME nor HOME is set");
    values best = run_tuning(task).values;
    layers_->remember(identity(), key(), best);
    note_valid(best);
    return best;
  }
  if (is_asked_to_tune()) database_->require_writable();
  tuning_transaction kept(
      layers_, identity(), key(), settings_.mode,
      [&](const record& found) { return if_valid(found).has_value(); }, settings_.wait(), start);
  options.observers.push_back(kept.recorder());
  task.read_prior = [&](const search_identity& to) { return kept.read_prior(to); };
  try {
    const tuned_values made = run_tuning(task);
    note_valid(made.values);
    values stored = kept.store(made);
    is_new_ = kept.is_stored() && stored == made.values;
    return stored;
  } catch (const too_little_memory_error&) {
    missed_keys(settings_.missed).remember(identity(), key());
    throw;
  }
}

// A tuning inside another is made once in that one, as it would be with a database.
tuning_call::values tuning_call::tune_for_test() {
  constexpr std::chrono::seconds test_wait{2};
  if (auto made = detail::made_inside(name())) return *std::move(made);
  require_no_capture();
  require_another();
  tuning_options options = search_options(options_, test_wait);
  const device_lease::pause others_measure;
  values made;
  {
    const detail::tuning_scope now(name());
    made = run_tuning({.context = context_,
                       .function = identity(),
                       .tunes = core_.tunes(),
                       .subject = subject_,
                       .options = options})
               .values;
  }
  detail::keep_made(name(), made, false);
  return made;
}

tuning_call::values tuning_call::do_without() const {
  std::optional<record> found = if_valid(find_exact());
  if (!found && !busy_) found = find_nearest();
  if (found && found->grade == match_grade::exact) return std::move(found->values);
  warn_once(fmt::format(
      "{}: another thread or process has been tuning it for longer than LIBTUNE_WAIT or the budget "
      "allows ({} ms); {} is used",
      describe(subject_), patience().count(),
      found ? "the result of device '" + found->device.name + "'" : "the test default"));
  return found ? std::move(found->values) : core_.test_default();
}

}  // namespace tune
