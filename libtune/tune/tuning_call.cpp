// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tuning_call.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/held_up_time.hpp"
#include "libtune/tune/engine/nested_tunings.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/single_flight.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/result_validation.hpp"

namespace tune {

// Calls inside a search serve its configurations, not the application.
detail::graded_values tuning_call::answer() {
  const bool is_outermost = detail::scopes().empty();
  try {
    detail::graded_values found = find_answer();
    if (is_outermost) detail::open_doors().answered(key_.subject, origin_);
    return found;
  } catch (...) {
    if (is_outermost) detail::open_doors().answered(key_.subject, detail::tuning_origin::failed);
    throw;
  }
}

detail::graded_values tuning_call::find_answer() {
  using detail::tuning_origin;
  key_.resolve();
  if (!key_.settings.lock.empty()) {
    origin_ = tuning_origin::locked;
    return {lookup_.locked()};
  }
  key_.open_databases();
  keep_to_total();
  if (key_.plan.replaces()) {
    if (auto made = detail::made_inside(key_.name())) return {*std::move(made)};
    if (key_.settings.mode_of_process && detail::is_tuned_in_process(key_.name())) {
      key_.settings.mode = tuning_mode::tune;
      key_.plan = {key_.settings.mode, key_.settings.match};
    }
  }
  lookup_candidates candidates{.stopped = lookup_.has_stopped_search()};
  if (key_.plan.tunes_anew(candidates)) {
    // Once for all calls of a process, or of the tuning that they are made in: the configurations
    // of one search are comparable only if what they call is the same for all of them.
    values made = tune_once();
    detail::keep_made(key_.name(), made, key_.settings.mode_of_process);
    return {std::move(made), made_grade()};
  }
  if (auto found = lookup_.look_up()) {
    const lookup_grade grade = detail::grade_of(found);
    origin_ = grade == lookup_grade::exact ? tuning_origin::exact : tuning_origin::nearest;
    const bool is_behind =
        grade == lookup_grade::nearest && detail::open_doors().tunes_later(key_, true);
    return {std::move(found->values), grade, is_behind};
  }
  if (!lookup_.busy()) missed_keys(key_.settings.missed).remember(key_.identity(), key_.key());
  origin_ = tuning_origin::test_default;
  if (key_.plan.is_behind()) {
    const bool is_behind = detail::open_doors().tunes_later(key_, false);
    detail::log_once(key_.name(), fmt::format("no tuning result for {}; the test default is used{}",
                                              describe(key_.subject),
                                              is_behind ? ", and the key is tuned behind" : ""));
    return {key_.core.test_default(), lookup_grade::miss, is_behind};
  }
  switch (key_.plan.step(candidates)) {
    case lookup_step::fail:
      if (lookup_.busy()) throw database_busy_error(*lookup_.busy());
      throw not_tuned_error(key_.subject, key_.settings.database, lookup_.failed_at());
    case lookup_step::test_default:
      log(log_level::info,
          "no tuning result for " + describe(key_.subject) + "; the test default is used");
      return {key_.core.test_default(), lookup_grade::miss};
    default: {
      values made = tune_once();
      return {std::move(made), made_grade()};
    }
  }
}

// Only the outermost tuning is limited: what is called inside of it is a part of it.
void tuning_call::keep_to_total() {
  tuning_options& search = key_.settings.search;
  if (!search.ready || *search.ready == no_ready_limit || !detail::scopes().empty()) return;
  if (!key_.plan.replaces() && key_.settings.mode != tuning_mode::tune) return;
  if (const auto part = detail::part_of_total(*search.ready, detail::held_up().total())) {
    search.longest_search = std::min(search.longest_search.value_or(*part), *part);
    return;
  }
  detail::log_once("ready", fmt::format("searches have held this program up for {}, as long as "
                                        "LIBTUNE_READY allows: keys without a result use the "
                                        "nearest one or the test default from now on",
                                        to_string(tuning_budget{.time = search.ready})));
  key_.settings.match = match_mode::nearest;
  key_.settings.mode = detail::can_tune_later() ? tuning_mode::behind : tuning_mode::defaults;
  key_.plan = {key_.settings.mode, key_.settings.match};
}

// A call that has waited for another search for too long does without its result.
lookup_grade tuning_call::made_grade() const {
  if (origin_ == detail::tuning_origin::test_default) return lookup_grade::miss;
  if (origin_ == detail::tuning_origin::nearest) return lookup_grade::nearest;
  return lookup_grade::exact;
}

// A trial may be of another space than the present one, so that its values have to be checked.
std::vector<tuning_call::values> tuning_call::finalists(std::size_t most) {
  std::vector<values> all{answer().values};
  if (!key_.settings.lock.empty()) return all;
  const auto found = lookup_.find_exact();
  if (!found || found->values != all.front()) return all;
  std::vector<stored_trial> trials =
      key_.layers->trials(key_.identity(), key_.subject.arguments, *found);
  std::erase_if(trials, [](const stored_trial& each) { return !each.score_ns; });
  std::ranges::stable_sort(trials, {},
                           [](const stored_trial& each) { return *each.score_ns / each.level; });
  for (const stored_trial& each : trials) {
    if (all.size() >= most) break;
    const bool is_new = std::ranges::find(all, each.configuration) == all.end();
    if (is_new && lookup_.is_tuning_of_core(each.configuration)) all.push_back(each.configuration);
  }
  return all;
}

// A tuning around this one holds the lock of its key, so that it sends the result with its own.
void tuning_call::push() const {
  if (!key_.settings.push_results) return;
  if (const auto store = detail::open_doors().find_source(key_.settings)) {
    store->push(key_.identity(), key_.key(), !detail::scopes().empty());
  }
}

// Machines that meet a key at the same time get one result: one searches and pushes it, and the
// others wait. Only for the outermost tuning, and before any lock that another thread or process
// may wait for: a machine that has the right to search never waits for one that wants it.
bool tuning_call::is_claimed() const {
  return key_.settings.push_results && key_.behind == nullptr && detail::scopes().empty() &&
         key_.plan.uses_exact() && key_.database &&
         !key_.plan.tunes_anew({.stopped = lookup_.has_stopped_search()});
}

/// The result of the machine that had the right before, if it has pushed one.
std::optional<tuning_call::values> tuning_call::find_claimed(
    const detail::result_source::claimed& claim) {
  waits_.reset();
  if (claim.is_late) return do_without();
  if (!claim.right || !lookup_.pull()) return std::nullopt;
  auto found = lookup_.if_valid(lookup_.find_exact());
  return found ? std::optional(std::move(found->values)) : std::nullopt;
}

tuning_call::values tuning_call::tune_once() {
  origin_ = detail::tuning_origin::searched;
  detail::leave_if_only_looking();
  std::optional<detail::held_up_time::interval> holds;
  if (key_.behind == nullptr && detail::scopes().empty()) holds.emplace(detail::held_up());
  key_.require_no_capture();
  require_another();
  const device_lease::pause others_measure;
  const auto store = is_claimed() ? detail::open_doors().find_source(key_.settings) : nullptr;
  detail::result_source::claimed claim;
  if (store) {
    claim = store->claim(key_.identity(), key_.key(), key_.patience(),
                         [&](auto waited) { waiting().look(waited, std::nullopt, {}); });
    if (auto found = find_claimed(claim)) return *std::move(found);
  }
  const auto look = [&](std::chrono::nanoseconds waited) {
    const auto folder =
        key_.database ? key_lock::folders(key_.database->path()).front() : std::string();
    waiting().look(waited, ::getpid(), folder);
  };
  bool leads = false;
  const auto lead = [&] {
    leads = true;
    return tune_in_turn();
  };
  try {
    auto made = detail::searches_in_flight().share(key_.name(), lead, key_.patience(), look);
    waits_.reset();
    if (std::exchange(is_new_, false)) push();
    return made ? *std::move(made) : do_without();
  } catch (const deadlock_found&) {
    waits_.reset();
    values made = tune_without_right();
    if (std::exchange(is_new_, false)) push();
    return made;
  } catch (const tuning_stopped_error&) {
    // Not for the thread that this one waited for, which its own caller has ended.
    if (leads || key_.behind != nullptr || detail::is_stopped()) throw;
  } catch (const detail::memory_reclaimed&) {
    // Left by the thread that this one waited for.
    if (detail::memory_quota_scope::find(*key_.context.device().impl()) != nullptr) throw;
  }
  waits_.reset();
  return tune_once();
}

key_wait& tuning_call::waiting() {
  if (!waits_) waits_.emplace(key_.name(), key_.subject, key_.options, key_.patience());
  return *waits_;
}

void tuning_call::require_another() const {
  const auto around = detail::scopes();
  const bool is_around = std::ranges::find(around, key_.name()) != around.end();
  if (!is_around && !detail::is_under_way(key_.subject)) return;
  throw argument_error(
      "an autotune function asks for its own result while it is tuning; construct the template "
      "with the tuning that it was given");
}

// Another thread or process may have stored the result between the lookup and now.
tuning_call::values tuning_call::tune_in_turn() {
  if (!key_.plan.uses_exact() || !key_.database) {
    const detail::tuning_scope now(key_.name());
    return tune_and_store();
  }
  key_lock lock(key_.database->path(), key_.search());
  const auto look = [&](std::chrono::nanoseconds waited) {
    if (key_.behind != nullptr && key_.behind->stop()) {
      throw tuning_stopped_error(describe(key_.subject) + " is tuned behind this program later");
    }
    waiting().look(waited, lock.holder(), lock.folder());
  };
  try {
    const bool is_mine = lock.take(key_.patience(), look);
    waits_.reset();
    if (!is_mine) return do_without();
  } catch (const deadlock_found&) {
    waits_.reset();
    return tune_without_right();
  }
  const detail::tuning_scope now(key_.name());
  if (key_.plan.tunes_anew({.stopped = lookup_.has_stopped_search()})) return tune_and_store();
  std::optional<record> found;
  try {
    found = find_after_wait();
  } catch (const database_busy_error& failure) {
    detail::warn_of_failure(failure);
    return do_without();
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  }
  waits_.reset();
  found = lookup_.if_valid(std::move(found));
  return found ? std::move(found->values) : tune_and_store();
}

// A database that another process locks, such as one stopped in the middle of a write, may hold the
// result all the same: no search starts before it could be read.
std::optional<record> tuning_call::find_after_wait() {
  std::optional<record> found;
  const auto look = [&](std::chrono::nanoseconds waited) {
    waiting().look_for_database(waited, key_.database->path());
  };
  wait_while_busy(
      key_.patience(),
      [&] {
        found = key_.database->find_patiently(key_.identity(), key_.key(), match_mode::exact,
                                              detail::read_at_a_time);
      },
      look);
  return found;
}

// Two calls that wait for each other would both wait to their limit: one goes on without the lock,
// and the first result that is stored counts for both.
tuning_call::values tuning_call::tune_without_right() {
  log(log_level::info, describe(key_.subject) +
                           ": the thread or process that tunes it waits for a tuning around this "
                           "one, so it is tuned here too");
  const detail::tuning_scope now(key_.name());
  return tune_and_store(search_start::anew);
}

// A result is wanted for later where LIBTUNE_MODE asks for tuning. Other programs get one all the
// same, which this process keeps, and a warning.
bool tuning_call::is_asked_to_tune() const {
  return key_.behind == nullptr && detail::scopes().size() == 1 && key_.settings.mode_of_process &&
         read_environment("LIBTUNE_MODE").has_value();
}

tuning_call::values tuning_call::tune_and_store(search_start start) {
  log(log_level::info, "tuning " + describe(key_.subject));
  require_strategy(key_.settings.search);
  tuning_options options = key_.settings.search;
  tuning_task task{.context = key_.context,
                   .function = key_.identity(),
                   .tunes = key_.core.tunes(),
                   .subject = key_.subject,
                   .options = options,
                   .choice = {.known = lookup_.plan_verification()},
                   .database = key_.database ? key_.database->path() : std::string(),
                   .behind = key_.behind,
                   .peaks = key_.database ? key_.database->path() : std::string()};
  if (key_.behind != nullptr) start = search_start::behind;
  if (!key_.database) {
    warn_once("tuning results are not kept: neither LIBTUNE_DB, XDG_CACHE_HOME nor HOME is set");
    values best = run_tuning(task).values;
    key_.layers->remember(key_.identity(), key_.key(), best);
    lookup_.note_valid(best);
    return best;
  }
  if (is_asked_to_tune()) key_.database->require_writable();
  tuning_transaction kept(
      key_.layers, key_.identity(), key_.key(), key_.settings.mode,
      [&](const record& found) { return lookup_.if_valid(found).has_value(); },
      key_.settings.wait(), start);
  options.observers.push_back(kept.recorder());
  detail::open_doors().add_observers(options.observers, key_.settings, key_.identity(),
                                     detail::scopes().size() == 1);
  task.read_prior = [&](const search_identity& to) { return kept.read_prior(to); };
  try {
    const tuned_values made = run_tuning(task);
    lookup_.note_valid(made.values);
    values stored = kept.store(made);
    is_new_ = kept.is_stored() && stored == made.values;
    return stored;
  } catch (const too_little_memory_error&) {
    missed_keys(key_.settings.missed).remember(key_.identity(), key_.key());
    throw;
  }
}

// A tuning inside another is made once in that one, as it would be with a database.
tuning_call::values tuning_call::tune_for_test() {
  constexpr std::chrono::seconds test_wait{2};
  if (auto made = detail::made_inside(key_.name())) return *std::move(made);
  key_.require_no_capture();
  require_another();
  tuning_options options = search_options(key_.options, test_wait);
  const device_lease::pause others_measure;
  values made;
  {
    const detail::tuning_scope now(key_.name());
    made = run_tuning({.context = key_.context,
                       .function = key_.identity(),
                       .tunes = key_.core.tunes(),
                       .subject = key_.subject,
                       .options = options})
               .values;
  }
  detail::keep_made(key_.name(), made, false);
  return made;
}

tuning_call::values tuning_call::do_without() {
  std::optional<record> found = lookup_.if_valid(lookup_.find_exact());
  if (!found && !lookup_.busy()) found = lookup_.find_nearest();
  origin_ = !found                               ? detail::tuning_origin::test_default
            : found->grade == match_grade::exact ? detail::tuning_origin::exact
                                                 : detail::tuning_origin::nearest;
  if (found && found->grade == match_grade::exact) return std::move(found->values);
  warn_once(fmt::format(
      "{}: another thread, process or machine has been tuning it for longer than LIBTUNE_WAIT or "
      "the budget "
      "allows ({} ms); {} is used",
      describe(key_.subject), key_.patience().count(),
      found ? "the result of device '" + found->device.name + "'" : "the test default"));
  if (found) return std::move(found->values);
  return key_.core.test_default();
}

}  // namespace tune
