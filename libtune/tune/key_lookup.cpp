// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/key_lookup.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/engine/device_lease.hpp"
#include "libtune/tune/engine/doors.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/single_flight.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tune/engine/wait_report.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/locked_lookup.hpp"
#include "libtune/tune/result_validation.hpp"

namespace tune {
namespace {

std::string result_name(const tuning_subject& subject, const std::vector<named_value>& values) {
  return canonical_text(subject.device.identity) + '\n' + canonical_text(subject.arguments) + '\n' +
         canonical_text(values);
}

}  // namespace

lookup_grade detail::grade_of(const std::optional<record>& found) noexcept {
  if (!found) return lookup_grade::miss;
  return found->grade == match_grade::exact ? lookup_grade::exact : lookup_grade::nearest;
}

single_flight& detail::searches_in_flight() {
  static never_destroyed<single_flight> flights;
  return *flights;
}

key_lookup::values key_lookup::locked() const {
  const auto start = std::chrono::steady_clock::now();
  record found = find_locked(key_.settings.lock, key_.context, key_.identity(), key_.subject);
  try {
    key_.core.check(found.values);
  } catch (const argument_error& foreign) {
    throw not_locked_error(key_.subject, key_.settings.lock,
                           fmt::format("{} is not a valid tuning any more: {}",
                                       to_string(found.values), foreign.what()));
  }
  report_lookup(found, std::chrono::steady_clock::now() - start);
  return std::move(found.values);
}

// Returns true if this call resumes a search that its budget ended.
bool key_lookup::has_stopped_search() const {
  if (!key_.plan.resumes() || !key_.database) return false;
  std::optional<stored_search> last;
  warn_on_database_error(
      [&] { last = key_.database->latest_search_result(key_.identity(), key_.key()); });
  return last && last->finished_at && can_be_continued(last->result);
}

std::optional<std::string> key_lookup::find_failure() const {
  std::optional<stored_search> last;
  warn_on_database_error([&] {
    try {
      last =
          key_.database->latest_search_result(key_.identity(), key_.key(), detail::read_at_a_time);
    } catch (const database_busy_error&) {  // it is not worth a wait
    }
  });
  if (!last || !last->finished_at || last->result != all_failed) return std::nullopt;
  log(log_level::info, fmt::format("the last search for {}, of {}, found no configuration that "
                                   "works; its reasons are with its trials in the database",
                                   describe(key_.subject), *last->finished_at));
  return last->finished_at;
}

std::optional<record> key_lookup::look_up() {
  const auto start = std::chrono::steady_clock::now();
  std::optional<record> found = if_valid(find_exact());
  if (!found && !busy_ && pull()) found = if_valid(find_exact());
  if (!found && !busy_ && key_.plan.uses_nearest()) found = find_nearest();
  if (!found && !busy_ && key_.database) failed_at_ = find_failure();
  report_lookup(found, std::chrono::steady_clock::now() - start);
  if (!found) return std::nullopt;
  if (found->grade == match_grade::exact && !found->remembered) {
    watch_for_kernel_change(key_.context, key_.layers, key_.identity(), key_.subject, *found);
  }
  if (found->grade == match_grade::nearest) {
    warn_once(fmt::format("{} uses the result of device '{}' ({}, {}), which differs in {}",
                          describe(key_.subject), found->device.name, found->device.platform,
                          found->device.driver_version, fmt::join(found->relaxed, ", ")));
  }
  return found;
}

// A database that others hold may have the result: that is no miss.
std::optional<record> key_lookup::find_exact() const {
  constexpr std::chrono::milliseconds longest{10'000};
  const auto limit = std::min(key_.settings.wait(), longest);
  std::optional<record> found;
  std::optional<key_wait> waits;
  const auto look = [&](std::chrono::nanoseconds waited) {
    if (!key_.database) return;
    if (!waits) waits.emplace(key_.name(), key_.subject, key_.options, limit);
    waits->look_for_database(waited, key_.database->path());
  };
  busy_.reset();
  try {
    wait_while_busy(
        limit,
        [&] { found = key_.layers->find(key_.identity(), key_.key(), detail::read_at_a_time); },
        look);
  } catch (const database_busy_error& failure) {
    detail::warn_of_failure(failure);
    busy_ = failure;
  }
  return found;
}

// Where no database has the key: a server is asked, while this thread holds no lock but that of a
// tuning around this call. Threads that want the same key wait for one answer.
bool key_lookup::pull() const {
  const auto store = detail::open_doors().find_source(key_.settings);
  if (!store || !key_.context.impl()->find_capture().empty()) return false;
  const device_lease::pause others_measure;
  const auto ask = [&]() -> values {
    const auto pulled = store->pull(key_.identity(), key_.key());
    if (pulled.unstored) key_.layers->remember(key_.identity(), key_.key(), *pulled.unstored);
    return pulled.any || pulled.unstored ? values{{"pulled", true}} : values{};
  };
  const auto made =
      detail::searches_in_flight().share("pull\n" + key_.name(), ask, key_.settings.wait());
  return made && !made->empty();
}

void key_lookup::report_lookup(const std::optional<record>& found,
                               std::chrono::nanoseconds elapsed) const {
  if (key_.options.observers.empty()) return;
  lookup_event event{.subject = key_.subject,
                     .grade = detail::grade_of(found),
                     .relaxed = {},
                     .values = {},
                     .database = key_.settings.database,
                     .elapsed = elapsed,
                     .failed_at = failed_at_};
  if (found) {
    event.relaxed = found->relaxed;
    event.values = found->values;
    event.database = found->database;
    event.step = found->step;
    event.device = found->device;
  }
  detail::notify(key_.options.observers, event);
}

// Threads that want the same share the check of a candidate. The flight refuses a function whose
// check asks for its own result, which would check for ever.
std::optional<record> key_lookup::find_nearest() const {
  if (auto chosen = key_.layers->chosen_nearest(key_.identity(), key_.key())) return chosen;
  key_.require_no_capture();
  const std::uint64_t generation = record_memory::shared().generation();
  const std::vector<record> candidates = key_.layers->find_nearest(key_.identity(), key_.key());
  if (candidates.empty()) return std::nullopt;
  const device_lease::pause others_measure;
  const auto check = [&]() -> values {
    const auto denylist =
        std::make_shared<incident_recorder>(key_.database, key_.identity(), key_.key());
    tuning_options options = key_.settings.search;
    options.observers.clear();
    if (key_.settings.mode != tuning_mode::cached) options.observers = {denylist};
    const tuning_task task{
        .context = key_.context,
        .function = key_.identity(),
        .tunes = key_.core.tunes(),
        .subject = key_.subject,
        .options = options,
        .read_prior = [&](const auto& to) { return denylist->read_prior(to, key_.layers.get()); },
        .behind = key_.behind};
    const auto usable = key_.plan.is_behind() ? find_usable_at_once(candidates, task)
                                              : find_usable(candidates, task);
    if (!usable) return {};
    key_.layers->choose_nearest(key_.identity(), key_.key(), *usable, generation);
    return {{"device", canonical_text(usable->device)}};
  };
  const auto made = detail::searches_in_flight().share(
      (key_.plan.is_behind() ? "look\n" : "check\n") + key_.name(), check, key_.settings.wait());
  if (!made || made->empty()) return std::nullopt;
  const auto chosen = std::ranges::find_if(candidates, [&](const record& candidate) {
    return value(canonical_text(candidate.device)) == made->front().value;
  });
  return chosen == candidates.end() ? std::nullopt : std::optional(*chosen);
}

std::optional<record> key_lookup::if_valid(std::optional<record> found) const {
  return found && is_tuning(*found) && is_allowed(*found) ? std::move(found) : std::nullopt;
}

bool key_lookup::is_tuning_of_core(const values& configuration) const {
  try {
    key_.core.check(configuration);
    return true;
  } catch (const argument_error&) {
    return false;
  }
}

// A row with the right columns may hold a value that is not valid in the present tuning.
bool key_lookup::is_tuning(const record& found) const {
  try {
    key_.core.check(found.values);
    return true;
  } catch (const argument_error& foreign) {
    warn_once(
        fmt::format("the result for {} in '{}' is not used, because it is not a valid tuning any "
                    "more: {}; raise "
                    "the version of the autotune function",
                    describe(key_.subject), found.database, foreign.what()));
    return false;
  }
}

// Threads share the check of a result against the present space.
bool key_lookup::is_allowed(const record& found) const {
  const std::string result = result_name(key_.subject, found.values);
  if (const auto known = key_.core.validity().find(result)) return *known;
  // The check allocates. The next call that is no part of a capture makes it.
  if (!key_.context.impl()->find_capture().empty()) return true;
  const auto check = [&]() -> values {
    const auto was_in_space = [&] {
      const auto origin = key_.layers->origin(key_.identity(), key_.subject.arguments, found);
      return origin && origin->search.stage == 0;
    };
    tuning_options options = key_.options;
    options.observers.clear();
    const auto reason = why_forbidden(found.values,
                                      {.context = key_.context,
                                       .function = key_.identity(),
                                       .tunes = key_.core.tunes(),
                                       .subject = key_.subject,
                                       .options = options},
                                      was_in_space);
    key_.core.validity().note(result, !reason);
    if (!reason) return {{"allowed", true}};
    warn_once(fmt::format(
        "the result for {} in '{}' ({}) counts as not there: {}; raise the version of the autotune "
        "function when its space changes",
        describe(key_.subject), found.database, to_string(found.values), *reason));
    return {};
  };
  const auto told = detail::searches_in_flight().share("standing\n" + key_.name() + '\n' + result,
                                                       check, key_.settings.wait());
  return !told || !told->empty();
}

void key_lookup::note_valid(const values& made) const {
  key_.core.validity().note(result_name(key_.subject, made), true);
}

verification key_lookup::plan_verification() const {
  verification known{.test_default = key_.core.test_default()};
  if (!key_.plan.verifies()) return known;
  known.winners = key_.layers->find_nearest(key_.identity(), key_.key());
  if (known.empty()) return known;
  known.trials =
      key_.layers->trials(key_.identity(), key_.subject.arguments, known.winners.front());
  return known;
}

}  // namespace tune
