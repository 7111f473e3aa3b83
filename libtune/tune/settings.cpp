// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/settings.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/store/database/database_place.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/files/user_cache_folder.hpp"

namespace tune {
namespace {

constexpr detail::word_table<match_mode, 3> match_words{{"exact", "nearest", "verify"}};
constexpr detail::word_table<tuning_mode, 5> mode_words{
    {"tune", "resume", "cached", "default", "force"}};
constexpr detail::word_table<isolation_mode, 3> isolation_words{{"automatic", "on", "off"}};

std::vector<std::string> resolve_system_databases(const tuning_options& options) {
  if (options.system_databases) return *options.system_databases;
  std::vector<std::string> paths;
  std::istringstream list(read_environment("LIBTUNE_SYSTEM_DB").value_or(""));
  for (std::string path; std::getline(list, path, ':');) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

std::string resolve_missed(const std::string& database) {
  if (const auto given = read_environment("LIBTUNE_MISSED")) return *given == "off" ? "" : *given;
  return database.empty() ? "" : missed_keys::path_beside(database);
}

tuning_budget resolve_budget(const tuning_options& options) {
  if (options.budget) return *options.budget;
  const auto given = read_environment("LIBTUNE_BUDGET");
  if (!given) return {};
  if (const auto budget = budget_from_text(*given)) return *budget;
  throw environment_error(
      "LIBTUNE_BUDGET", *given,
      "limits such as '30 s', '200 trials' or 'target 85 us', each at most once, "
      "with commas between them");
}

}  // namespace

std::chrono::milliseconds resolve_wait(const tuning_options& options,
                                       std::chrono::milliseconds by_default) {
  using std::chrono::milliseconds;
  constexpr std::chrono::seconds longest{std::chrono::hours(24 * 365)};
  if (options.wait) return std::clamp<milliseconds>(*options.wait, milliseconds(0), longest);
  const auto given = read_environment_index("LIBTUNE_WAIT");
  if (!given) return by_default;
  constexpr auto most = static_cast<std::size_t>(longest.count());
  return std::chrono::seconds(std::min(*given, most));
}

tuning_settings resolve_settings(const tuning_options& options) {
  tuning_settings settings;
  if (options.database) {
    settings.database = *options.database;
  } else {
    auto place = place_database(read_environment("LIBTUNE_DB").value_or(default_database_path()));
    settings.database = std::move(place.path);
    settings.shared_database = std::move(place.shared);
  }
  settings.system_databases = resolve_system_databases(options);
  settings.missed = resolve_missed(settings.database);
  settings.match = options.match ? *options.match
                                 : match_words.read("LIBTUNE_MATCH").value_or(match_mode::exact);
  if (options.mode) {
    settings.mode = *options.mode;
  } else {
    settings.mode_of_process = true;
    settings.mode = mode_words.read("LIBTUNE_MODE").value_or(tuning_mode::tune);
  }
  settings.budget = resolve_budget(options);
  settings.wait = resolve_wait(options);
  return settings;
}

isolation_mode resolve_isolation(const tuning_options& options) {
  if (options.isolation) return *options.isolation;
  return isolation_words.read("LIBTUNE_ISOLATION").value_or(isolation_mode::automatic);
}

std::chrono::milliseconds resolve_trial_time(const watchdog_settings& settings) {
  using std::chrono::milliseconds;
  constexpr milliseconds longest = std::chrono::hours(24 * 365);
  if (settings.floor) return std::clamp<milliseconds>(*settings.floor, milliseconds(1), longest);
  const auto given = read_environment_index("LIBTUNE_TRIAL_TIME");
  if (!given) return default_trial_time;
  constexpr auto most = static_cast<std::size_t>(longest.count() / 1000);
  return std::clamp<milliseconds>(std::chrono::seconds(std::min(*given, most)), milliseconds(1),
                                  longest);
}

std::string default_database_path() {
  const auto folder = user_cache_folder();
  return folder ? *folder + "/tuning.db" : std::string();
}

const char* tuning_mode_name(tuning_mode mode) noexcept { return mode_words.word(mode); }

const char* match_mode_name(match_mode match) noexcept { return match_words.word(match); }

}  // namespace tune
