// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/autotuner_core.hpp"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/store/tuning_database.hpp"
#include "libtune/tune/database_recorder.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/in_flight.hpp"
#include "libtune/tune/registry.hpp"
#include "libtune/tune/search_loop.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/tolerant.hpp"

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

in_flight& searches_in_flight() {
  static in_flight flights;
  return flights;
}

}  // namespace

/// One call of an autotuner, with all that has been resolved for it.
struct autotuner_core::request {
  const tune::context& context;
  const tuning_options& options;
  tuning_subject subject;
  tuning_settings settings;
  std::shared_ptr<tuning_database> database;  // null: nowhere to keep results
  std::optional<std::string> failed_at{};     // when the last search found nothing, on a miss

  record_key key() const { return {subject.arguments, subject.device.identity}; }
};

autotuner_core::autotuner_core(function_identity identity, values test_default, function tunes,
                               check_function check)
    : identity_(std::move(identity)),
      test_default_(std::move(test_default)),
      tunes_(std::move(tunes)),
      check_(std::move(check)) {
  autotuner_registry::instance().add(*this);
}

autotuner_core::~autotuner_core() { autotuner_registry::instance().remove(*this); }

autotuner_core::values autotuner_core::obtain(const tune::context& context, const values& key,
                                              const tuning_options& options) const {
  const detail::test_mode testing = detail::current_test_mode();
  if (testing == detail::test_mode::defaults) return test_default_;

  autotuner_registry::instance().require_unique(*this);
  request asked{.context = context,
                .options = options,
                .subject = {.function = identity_.name,
                            .version = identity_.version,
                            .arguments = key,
                            .device = context.device().info()},
                .settings = {},
                .database = nullptr};
  if (testing == detail::test_mode::forced) {
    tuning_session session(context, asked.subject, options);
    return tunes_(session, key);
  }
  asked.settings = resolve_settings(options);
  asked.database = open_database(asked.settings.database);
  if (asked.settings.mode == tuning_mode::force) return tune_once(asked);
  if (auto found = look_up(asked)) return *std::move(found);
  switch (asked.settings.mode) {
    case tuning_mode::cached:
      throw not_tuned_error(asked.subject, asked.settings.database, asked.failed_at);
    case tuning_mode::defaults:
      log(log_level::info,
          "no tuning result for " + describe(asked.subject) + "; the test default is used");
      return test_default_;
    case tuning_mode::tune:
    case tuning_mode::force: break;
  }
  return tune_once(asked);
}

// The columns may be right and a value still be none of the present tuning.
std::optional<record> autotuner_core::find(const request& asked) const {
  std::optional<record> found;
  warn_on_database_error(
      [&] { found = asked.database->find(identity_, asked.key(), asked.settings.match); });
  if (!found) return std::nullopt;
  try {
    check_(found->values);
    return found;
  } catch (const argument_error& foreign) {
    warn_once(fmt::format(
        "the result for {} in '{}' counts as not there, for it is no tuning any more: {}; raise "
        "the version of the autotune function",
        describe(asked.subject), asked.settings.database, foreign.what()));
    return std::nullopt;
  }
}

std::optional<autotuner_core::values> autotuner_core::look_up(request& asked) const {
  const auto start = std::chrono::steady_clock::now();
  std::optional<record> found;
  if (asked.database) {
    found = find(asked);
    if (!found) asked.failed_at = find_failure(asked);
  }
  if (!asked.options.observers.empty()) {
    const lookup_event event{.subject = asked.subject,
                             .grade = to_lookup_grade(found),
                             .relaxed = found ? found->relaxed : std::vector<std::string>{},
                             .values = found ? found->values : values{},
                             .database = asked.settings.database,
                             .elapsed = std::chrono::steady_clock::now() - start,
                             .failed_at = asked.failed_at};
    notify(asked.options.observers, [&](observer& listener) { listener.looked_up(event); });
  }
  if (!found) return std::nullopt;
  if (found->grade == match_grade::nearest) {
    warn_once(fmt::format("{} uses the result of device '{}' ({}, {}): {} need not match",
                          describe(asked.subject), found->device.name, found->device.platform,
                          found->device.driver_version, joined(found->relaxed)));
  }
  return std::move(found->values);
}

std::optional<std::string> autotuner_core::find_failure(const request& asked) const {
  std::optional<stored_search> last;
  warn_on_database_error(
      [&] { last = asked.database->latest_search_result(identity_, asked.key()); });
  if (!last || !last->finished_at || last->result != all_failed) return std::nullopt;
  log(log_level::info, fmt::format("the last search for {}, of {}, found no configuration that "
                                   "works; its reasons are with its trials in the database",
                                   describe(asked.subject), *last->finished_at));
  return last->finished_at;
}

// Another thread may have stored the result between the lookup and the start of this flight.
autotuner_core::values autotuner_core::tune_once(const request& asked) const {
  const device_identity& device = asked.subject.device.identity;
  const std::string key = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", table_name(identity_), asked.settings.database, device.name,
      device.platform, device.driver_version, canonical_text(asked.subject.arguments));
  return searches_in_flight().share(key, [&]() -> values {
    if (asked.settings.mode == tuning_mode::tune && asked.database) {
      if (auto found = find(asked)) return std::move(found->values);
    }
    return tune_and_store(asked);
  });
}

autotuner_core::values autotuner_core::tune_and_store(const request& asked) const {
  log(log_level::info, "tuning " + describe(asked.subject));
  if (!asked.database) {
    warn_once("tuning results are not kept: neither LIBTUNE_DB, XDG_CACHE_HOME nor HOME is set");
    tuning_session session(asked.context, asked.subject, asked.options);
    return tunes_(session, asked.subject.arguments);
  }
  const auto start =
      asked.settings.mode == tuning_mode::force ? search_start::anew : search_start::continued;
  const auto recorder =
      std::make_shared<database_recorder>(asked.database, identity_, asked.key(), start);
  tuning_options options = asked.options;
  options.observers.push_back(recorder);
  tuning_session session(asked.context, asked.subject, options, std::chrono::steady_clock::now,
                         [&](const search_identity& search) { return recorder->recall(search); });
  values best = tunes_(session, asked.subject.arguments);
  std::optional<double> score_ns;
  if (session.best_score()) score_ns = session.best_score()->count();
  const bool stored = warn_on_database_error(
      [&] { asked.database->store(identity_, asked.key(), best, score_ns); });
  if (stored) recorder->result_stored();
  return best;
}

std::vector<const autotuner_core*> registered_autotuners() {
  return autotuner_registry::instance().all();
}

}  // namespace tune
