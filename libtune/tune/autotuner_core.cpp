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
#include "libtune/store/key_lock.hpp"
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

// What tells a search from all others of one database.
std::string search_name(const function_identity& function, const tuning_subject& subject) {
  const device_identity& device = subject.device.identity;
  return fmt::format("{}\n{}\n{}\n{}\n{}", table_name(function), device.name, device.platform,
                     device.driver_version, canonical_text(subject.arguments));
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

  record_key key() const { return {subject.arguments, subject.device.identity}; }
};

autotuner_core::autotuner_core(function_identity identity, values test_default, function tunes)
    : identity_(std::move(identity)),
      test_default_(std::move(test_default)),
      tunes_(std::move(tunes)) {
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
    std::optional<run_time> score;
    return run(context, asked.subject, options, score);
  }
  asked.settings = resolve_settings(options);
  asked.database = open_database(asked.settings.database);
  if (asked.settings.mode == tuning_mode::force) return tune_once(asked);
  if (auto found = look_up(asked)) return *std::move(found);
  switch (asked.settings.mode) {
    case tuning_mode::cached: throw not_tuned_error(asked.subject, asked.settings.database);
    case tuning_mode::defaults:
      log(log_level::info,
          "no tuning result for " + describe(asked.subject) + "; the test default is used");
      return test_default_;
    case tuning_mode::tune:
    case tuning_mode::force: break;
  }
  return tune_once(asked);
}

std::optional<autotuner_core::values> autotuner_core::look_up(const request& asked) const {
  const auto start = std::chrono::steady_clock::now();
  std::optional<record> found;
  if (asked.database) {
    warn_on_database_error(
        [&] { found = asked.database->find(identity_, asked.key(), asked.settings.match); });
  }
  if (!asked.options.observers.empty()) {
    const lookup_event event{.subject = asked.subject,
                             .grade = to_lookup_grade(found),
                             .relaxed = found ? found->relaxed : std::vector<std::string>{},
                             .values = found ? found->values : values{},
                             .database = asked.settings.database,
                             .elapsed = std::chrono::steady_clock::now() - start};
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

autotuner_core::values autotuner_core::tune_once(const request& asked) const {
  const std::string search = search_name(identity_, asked.subject);
  auto made = searches_in_flight().share(
      asked.settings.database + '\n' + search, [&] { return tune_in_turn(asked, search); },
      asked.settings.wait);
  return made ? *std::move(made) : do_without(asked);
}

// Another thread or process may have stored the result between the lookup and now.
autotuner_core::values autotuner_core::tune_in_turn(const request& asked,
                                                    const std::string& search) const {
  if (asked.settings.mode == tuning_mode::force || !asked.database) return tune_and_store(asked);
  key_lock lock(asked.database->path(), search);
  if (!lock.take(asked.settings.wait)) return do_without(asked);
  std::optional<record> found;
  warn_on_database_error([&] {
    found = asked.database->find_patiently(identity_, asked.key(), asked.settings.match);
  });
  return found ? std::move(found->values) : tune_and_store(asked);
}

autotuner_core::values autotuner_core::tune_and_store(const request& asked) const {
  log(log_level::info, "tuning " + describe(asked.subject));
  tuning_options options = asked.options;
  options.wait = asked.settings.wait;
  if (asked.database) {
    options.observers.push_back(
        std::make_shared<database_recorder>(asked.database, identity_, asked.key()));
  }
  std::optional<run_time> score;
  values best = run(asked.context, asked.subject, options, score);
  if (asked.database) {
    std::optional<double> score_ns;
    if (score) score_ns = score->count();
    warn_on_database_error([&] { store(asked, best, score_ns); });
  } else {
    warn_once("tuning results are not kept: neither LIBTUNE_DB, XDG_CACHE_HOME nor HOME is set");
  }
  return best;
}

void autotuner_core::store(const request& asked, values& best,
                           std::optional<double> score_ns) const {
  if (asked.settings.mode == tuning_mode::force) {
    asked.database->store(identity_, asked.key(), best, score_ns);
  } else {
    best = asked.database->store_first(identity_, asked.key(), best, score_ns).values;
  }
}

autotuner_core::values autotuner_core::do_without(const request& asked) const {
  std::optional<record> found;
  if (asked.database) {
    warn_on_database_error(
        [&] { found = asked.database->find(identity_, asked.key(), match_mode::nearest); });
  }
  if (found && found->grade == match_grade::exact) return std::move(found->values);
  warn_once(fmt::format(
      "{}: another thread or process has been tuning it for longer than LIBTUNE_WAIT allows "
      "({} ms); {} is used",
      describe(asked.subject), asked.settings.wait.count(),
      found ? "the result of device '" + found->device.name + "'" : "the test default"));
  return found ? std::move(found->values) : test_default_;
}

autotuner_core::values autotuner_core::run(const tune::context& context,
                                           const tuning_subject& subject,
                                           const tuning_options& options,
                                           std::optional<run_time>& score) const {
  tuning_session session(context, subject, options);
  values best = tunes_(session, subject.arguments);
  score = session.best_score();
  return best;
}

std::vector<const autotuner_core*> registered_autotuners() {
  return autotuner_registry::instance().all();
}

}  // namespace tune
