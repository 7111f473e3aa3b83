// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/settings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <sstream>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {
namespace {

std::atomic<detail::test_mode> process_test_mode{detail::test_mode::off};
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

void set_tuning_options(const context& context, tuning_options options) {
  context.attach(std::make_shared<const tuning_options>(std::move(options)));
}

std::shared_ptr<const tuning_options> tuning_options_of(const context& context) {
  if (auto attached = context.attachment<tuning_options>()) return attached;
  static const detail::never_destroyed<std::shared_ptr<const tuning_options>> nothing_said(
      std::make_shared<const tuning_options>());
  return *nothing_said;
}

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

tuning_options search_options(const tuning_options& given, const tuning_settings& settings) {
  tuning_options resolved = given;
  resolved.wait = settings.wait;
  resolved.budget = settings.budget;
  resolved.isolation = resolve_isolation(given);
  return resolved;
}

tuning_goal resolve_goal(const tuning_options& options, const tuning_goal& author) {
  if (const auto given = read_environment("LIBTUNE_OBJECTIVE")) {
    if (auto goal = goal_from_text(*given)) return *std::move(goal);
    throw environment_error("LIBTUNE_OBJECTIVE", *given,
                            "objectives and constraints such as 'min time', 'max gflops' or 'power "
                            "<= 100', with commas between them");
  }
  return options.goal.value_or(author);
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

detail::test_mode detail::current_test_mode() noexcept {
  return process_test_mode.load(std::memory_order_relaxed);
}

void detail::set_test_mode(test_mode wanted) noexcept {
  process_test_mode.store(wanted, std::memory_order_relaxed);
}

const char* lookup_step_name(lookup_step step) noexcept {
  constexpr detail::word_table<lookup_step, 6> words{
      {"use", "check first", "verify", "tune", "fail", "test default"}};
  return words.word(step);
}

lookup_step lookup_plan::step(const lookup_candidates& candidates) const noexcept {
  if (tunes_anew(candidates)) return lookup_step::tune;
  if (candidates.exact) return lookup_step::use;
  if (candidates.nearest && verifies()) return lookup_step::verify;
  if (candidates.nearest && uses_nearest()) return lookup_step::check_first;
  switch (mode_) {
    case tuning_mode::cached: return lookup_step::fail;
    case tuning_mode::defaults: return lookup_step::test_default;
    case tuning_mode::tune:
    case tuning_mode::resume:
    case tuning_mode::force: break;
  }
  return lookup_step::tune;
}

namespace {

struct unit {
  std::string_view name;
  double nanoseconds;
};

constexpr std::array units{unit{"ns", 1},  unit{"us", 1e3},   unit{"ms", 1e6},
                           unit{"s", 1e9}, unit{"min", 60e9}, unit{"h", 3600e9}};

// Beyond it a count of nanoseconds does not fit in 64 bits.
constexpr double longest = 250.0 * 365 * 24 * 3600e9;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Takes a positive number from the front of the text.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || !(number > Number{0})) return std::nullopt;
  text = trimmed(text.substr(static_cast<std::size_t>(stop - text.data())));
  return number;
}

std::optional<double> duration_ns(std::string_view text) {
  const auto number = take_number<double>(text);
  if (!number) return std::nullopt;
  for (const unit& known : units) {
    if (known.name != text) continue;
    const double nanoseconds = *number * known.nanoseconds;
    return nanoseconds <= longest ? std::optional(nanoseconds) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> count_of_trials(std::string_view text) {
  const auto number = take_number<std::size_t>(text);
  return text == "trials" || text == "trial" ? number : std::nullopt;
}

// Returns true if the text is a limit, of a kind that the budget does not have yet.
bool add_limit(tuning_budget& budget, std::string_view text) {
  constexpr std::string_view target = "target ";
  if (text.starts_with(target)) {
    const auto ns = duration_ns(trimmed(text.substr(target.size())));
    return ns && !std::exchange(budget.target, run_time(ns.value_or(0)));
  }
  if (const auto trials = count_of_trials(text)) return !std::exchange(budget.trials, trials);
  const auto ns = duration_ns(text);
  if (!ns) return false;
  const std::chrono::nanoseconds time(std::llround(std::ceil(*ns)));
  return !std::exchange(budget.time, time);
}

std::string duration_text(double nanoseconds) {
  const unit* largest = &units.front();
  for (const unit& known : units) {
    if (nanoseconds >= known.nanoseconds) largest = &known;
  }
  return fmt::format("{:g} {}", nanoseconds / largest->nanoseconds, largest->name);
}

}  // namespace

std::optional<tuning_budget> budget_from_text(std::string_view text) {
  tuning_budget budget;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    if (!add_limit(budget, trimmed(text.substr(0, comma)))) return std::nullopt;
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return budget;
}

std::string to_string(const tuning_budget& budget) {
  std::string text;
  const auto add = [&](const std::string& limit) { text += (text.empty() ? "" : ", ") + limit; };
  if (budget.time) add(duration_text(static_cast<double>(budget.time->count())));
  if (budget.trials) add(fmt::format("{} trials", *budget.trials));
  if (budget.target) add("target " + duration_text(budget.target->count()));
  return text;
}

std::string_view search_end_name(search_end end) noexcept {
  constexpr detail::word_table<search_end, 4> words{{"complete", "time", "trials", "target"}};
  return words.word(end);
}

}  // namespace tune
