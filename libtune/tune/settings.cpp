// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/settings.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <sstream>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/search/strategy/strategies.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/store/files/store_url.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {
namespace {

std::atomic<detail::test_mode> process_test_mode{detail::test_mode::off};
std::atomic<isolation_mode> default_isolation{isolation_mode::automatic};
constexpr detail::word_table<match_mode, 3> match_words{{"exact", "nearest", "verify"}};
constexpr detail::word_table<tuning_mode, 6> mode_words{
    {"tune", "resume", "cached", "default", "force", "behind"}};
constexpr detail::word_table<isolation_mode, 3> isolation_words{{"automatic", "on", "off"}};

constexpr detail::word_table<result_check, 3> check_words{{"every", "finalists", "none"}};
constexpr detail::word_table<bool, 2> switch_words{{"off", "on"}};
constexpr detail::word_table<bool, 2> access_words{{"pull", "push"}};
constexpr std::chrono::seconds longest_time{std::chrono::hours(24 * 365)};

/// Replaces given options by the environment, unless a command line gives them.
class overriding {
 public:
  explicit overriding(option_source given_by) : yields_(given_by < option_source::environment) {}

  /// @param read  reads the variable; returns an optional
  /// @returns true if the variable is used
  template <class Value, class Read>
  bool operator()(Value& option, bool is_given, const char* variable, const Read& read) {
    if (is_given && !yields_) return false;
    auto found = read(variable);
    if (!found) return false;
    option = *std::move(found);
    variables_.emplace_back(variable);
    return true;
  }
  template <class T, class Read>
  bool operator()(std::optional<T>& option, const char* variable, const Read& read) {
    return (*this)(option, option.has_value(), variable, read);
  }
  std::vector<std::string> variables() && { return std::move(variables_); }

 private:
  bool yields_;
  std::vector<std::string> variables_;
};

// A server's URL may have a password, which errors must not repeat.
std::optional<std::string> read_path(const char* variable) {
  auto given = read_environment(variable);
  if (!given) return given;
  const std::size_t in_list = given->find(":postgres");
  const std::string text = given->substr(in_list == std::string::npos ? 0 : in_list + 1);
  if (is_store_url(*given) || is_store_url(text)) {
    throw environment_error(variable, shown_url(text),
                            "the path of a file; LIBTUNE_SHARED_DB names a server");
  }
  return given;
}

std::optional<std::vector<std::string>> read_paths(const char* variable) {
  const auto given = read_path(variable);
  if (!given) return std::nullopt;
  std::vector<std::string> paths;
  std::istringstream list(*given);
  for (std::string path; std::getline(list, path, ':');) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

// The text may hold a password, which errors must not repeat.
std::optional<std::string> read_store_url(const char* variable) {
  auto given = read_environment(variable);
  if (given && !is_store_url(*given)) {
    throw environment_error(variable, shown_url(*given),
                            "a URL such as postgresql://user@host/database");
  }
  return given;
}

std::optional<std::chrono::milliseconds> read_seconds(const char* variable) {
  const auto given = read_environment_index(variable);
  if (!given) return std::nullopt;
  constexpr auto most = static_cast<std::size_t>(longest_time.count());
  return std::chrono::seconds(std::min(*given, most));
}

std::optional<double> read_share(const char* variable) {
  const auto percent = read_environment_index(variable);
  if (!percent) return std::nullopt;
  if (*percent >= 1 && *percent <= 100) return static_cast<double>(*percent) / 100;
  throw environment_error(variable, std::to_string(*percent), "a percentage from 1 to 100");
}

std::optional<double> read_slack(const char* variable) {
  const auto percent = read_environment_index(variable);
  if (!percent) return std::nullopt;
  if (*percent <= 1000) return static_cast<double>(*percent) / 100;
  throw environment_error(variable, std::to_string(*percent), "a percentage from 0 to 1000");
}

std::optional<std::chrono::microseconds> read_slice(const char* variable) {
  const auto given = read_environment_index(variable);
  if (!given) return std::nullopt;
  constexpr std::size_t most = 60'000'000;
  if (*given >= 1 && *given <= most) return std::chrono::microseconds(*given);
  throw environment_error(variable, std::to_string(*given), "microseconds, from 1 to a minute");
}

std::optional<tuning_budget> read_budget(const char* variable) {
  const auto given = read_environment(variable);
  if (!given) return std::nullopt;
  if (const auto budget = budget_from_text(*given)) return budget;
  throw environment_error(
      variable, *given,
      "limits such as '30 s', '200 trials', 'target 85 us' or 'within 5 %', each at most once, "
      "with commas between them");
}

std::optional<std::chrono::nanoseconds> read_ready(const char* variable) {
  const auto given = read_environment(variable);
  if (!given) return std::nullopt;
  if (*given == "off") return no_ready_limit;
  const auto budget = budget_from_text(*given);
  if (budget && *budget == tuning_budget{.time = budget->time}) return budget->time;
  throw environment_error(variable, *given, "a time such as '60 s' or '2 min', or 'off'");
}

std::optional<memory_budget> read_memory(const char* variable) {
  const auto given = read_environment(variable);
  if (!given) return std::nullopt;
  if (const auto budget = memory_budget_from_text(*given)) return budget;
  throw environment_error(variable, *given,
                          "bytes such as '2 GiB' or '512 MiB', or a part of the device's memory "
                          "such as '10 %'");
}

std::optional<tuning_goal> read_goal(const char* variable) {
  const auto given = read_environment(variable);
  if (!given) return std::nullopt;
  if (auto goal = goal_from_text(*given)) return goal;
  throw environment_error(variable, *given,
                          "objectives and constraints such as 'min time', 'max gflops' or 'power "
                          "<= 100', with commas between them");
}

/// Reads one of the words of a table.
template <class Enum, std::size_t Count>
auto one_of(const detail::word_table<Enum, Count>& words) {
  return [&words](const char* variable) { return words.read(variable); };
}

std::string resolve_missed(const std::string& database) {
  if (const auto given = read_path("LIBTUNE_MISSED")) return *given == "off" ? "" : *given;
  return database.empty() ? "" : missed_keys::path_beside(database);
}

std::optional<double> read_good_enough(const char* variable) {
  const auto given = read_environment(variable);
  if (!given) return std::nullopt;
  const auto budget = budget_from_text("within " + *given);
  if (budget && *budget == tuning_budget{.within = budget->within}) return budget->within;
  throw environment_error(variable, *given, "a percentage such as '5%' or '0.5 %'");
}

/// A budget that only sets good enough does not limit the effort, and does not remove other limits.
/// An empty budget removes them.
bool has_limits(const tuning_options& options) {
  const auto& budget = options.budget;
  const bool only_within =
      budget && budget->within && *budget == tuning_budget{.within = budget->within};
  return (budget && !only_within) || options.search.max_count || options.search.max_fraction;
}

std::string text_of_limits(const tuning_options& options) {
  tuning_budget limits = options.budget.value_or(tuning_budget{});
  limits.within.reset();
  std::string text = to_string(limits);
  const auto add = [&](const std::string& limit) { text += (text.empty() ? "" : ", ") + limit; };
  if (options.search.max_count) add(fmt::format("{} configurations", *options.search.max_count));
  if (options.search.max_fraction)
    add(fmt::format("{} of the space", *options.search.max_fraction));
  return text.empty() ? "none" : text;
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

tuning_settings resolve_settings(const tuning_options& options) {
  tuning_settings settings{.search = search_options(options)};
  overriding override(options.given_by);
  std::optional<std::string> database = options.database;
  const bool is_theirs = override(database, "LIBTUNE_DB", read_path);
  if (database) require_file_path(*database);
  if (database && !is_theirs) {
    settings.database = *database;
  } else {
    auto place = place_database(database.value_or(default_database_path()));
    settings.database = std::move(place.path);
    settings.shared_database = std::move(place.shared);
  }
  auto system_databases = options.system_databases;
  override(system_databases, "LIBTUNE_SYSTEM_DB", read_paths);
  settings.system_databases = system_databases.value_or(std::vector<std::string>());
  settings.shared_store = options.shared_store.value_or("");
  override(settings.shared_store, options.shared_store.has_value(), "LIBTUNE_SHARED_DB",
           read_store_url);
  settings.push_results = options.push_results.value_or(false);
  override(settings.push_results, options.push_results.has_value(), "LIBTUNE_SHARED_DB_ACCESS",
           one_of(access_words));
  settings.report = options.report.value_or("");
  override(settings.report, options.report.has_value(), "LIBTUNE_REPORT", read_path);
  settings.lock = options.lock.value_or("");
  override(settings.lock, options.lock.has_value(), "LIBTUNE_LOCK", read_path);
  settings.missed = resolve_missed(settings.database);
  settings.match = options.match.value_or(match_mode::exact);
  override(settings.match, options.match.has_value(), "LIBTUNE_MATCH", one_of(match_words));
  settings.mode = options.mode.value_or(tuning_mode::tune);
  const bool is_set =
      override(settings.mode, options.mode.has_value(), "LIBTUNE_MODE", one_of(mode_words));
  settings.mode_of_process = is_set || !options.mode;
  return settings;
}

tuning_options as_options(const tuning_settings& settings) {
  tuning_options resolved = settings.search;
  if (settings.shared_database.empty() && !settings.database.empty()) {
    resolved.database = settings.database;
  }
  resolved.system_databases = settings.system_databases;
  resolved.shared_store = settings.shared_store;
  resolved.push_results = settings.push_results;
  resolved.report = settings.report;
  resolved.match = settings.match;
  resolved.mode = settings.mode;
  resolved.given_by = option_source::command;
  return resolved;
}

tuning_options search_options(const tuning_options& given, std::chrono::milliseconds wait) {
  using std::chrono::milliseconds;
  tuning_options resolved = given;
  overriding override(given.given_by);
  override(resolved.strategy, !given.strategy.empty(), "LIBTUNE_STRATEGY", read_environment);
  if (override(resolved.budget, given.budget || has_limits(given), "LIBTUNE_BUDGET", read_budget)) {
    resolved.search.max_count.reset();
    resolved.search.max_fraction.reset();
  }
  std::optional<double> within = resolved.budget ? resolved.budget->within : std::nullopt;
  if (override(within, "LIBTUNE_GOOD_ENOUGH", read_good_enough)) {
    resolved.budget = resolved.budget.value_or(tuning_budget{});
    resolved.budget->within = within;
  }
  // A command that tunes holds up no program.
  if (given.given_by != option_source::command) {
    override(resolved.ready, "LIBTUNE_READY", read_ready);
  }
  override(resolved.search.early_end, "LIBTUNE_EARLY_END", one_of(switch_words));
  override(resolved.memory, "LIBTUNE_TUNING_MEMORY", read_memory);
  override(resolved.wait, "LIBTUNE_WAIT", read_seconds);
  resolved.wait =
      std::clamp<milliseconds>(resolved.wait.value_or(wait), milliseconds(0), longest_time);
  override(resolved.isolation, "LIBTUNE_ISOLATION", one_of(isolation_words));
  if (!resolved.isolation) resolved.isolation = default_isolation.load(std::memory_order_relaxed);
  override(resolved.behind.share, "LIBTUNE_SHARE", read_share);
  override(resolved.behind.slice, "LIBTUNE_SLICE", read_slice);
  override(resolved.behind.slack, "LIBTUNE_SLACK", read_slack);
  auto& floor = resolved.watchdog.floor;
  override(floor, "LIBTUNE_TRIAL_TIME", read_seconds);
  if (floor) floor = std::clamp<milliseconds>(*floor, milliseconds(1), longest_time);
  override(resolved.goal, "LIBTUNE_OBJECTIVE", read_goal);
  // Options that are resolved again, in a nested tuning, keep their sources.
  const std::vector<std::string> variables = std::move(override).variables();
  resolved.from_environment.insert(resolved.from_environment.end(), variables.begin(),
                                   variables.end());
  return resolved;
}

tuning_goal resolve_goal(const tuning_options& options, const tuning_goal& author) {
  if (options.goal && options.given_by == option_source::command) return *options.goal;
  if (auto given = read_goal("LIBTUNE_OBJECTIVE")) return *std::move(given);
  return options.goal.value_or(author);
}

search_decision decide(const tuning_options& resolved, const search_defaults& author,
                       const std::optional<tuning_goal>& goal_of_author) {
  search_decision made{.options = resolved};
  tuning_options& options = made.options;
  const auto add = [&](const std::string& what, bool is_authors, const char* variable) {
    const bool is_variables =
        std::ranges::find(resolved.from_environment, variable) != resolved.from_environment.end();
    made.sources += fmt::format("{}{} ({})", made.sources.empty() ? "" : ", ", what,
                                is_authors                                        ? "author"
                                : is_variables                                    ? variable
                                : resolved.given_by == option_source::application ? "application"
                                                                                  : "command line");
  };
  // Takes the author's value of an option, unless a later source gives one.
  const auto settle = [&](auto& option, const auto& authors, const char* variable,
                          const auto& text) {
    const bool is_authors = !option && authors;
    if (is_authors) option = authors;
    if (option) add(text(*option), is_authors, variable);
  };
  const bool is_authors_strategy = options.strategy.empty();
  if (is_authors_strategy) options.strategy = author.strategy;
  if (!options.strategy.empty()) {
    add("strategy " + options.strategy, is_authors_strategy, "LIBTUNE_STRATEGY");
  }
  const bool is_authors_limit = !has_limits(options);
  const auto within = options.budget ? options.budget->within : std::nullopt;
  if (is_authors_limit) {
    if (author.budget != tuning_budget{}) options.budget = author.budget;
    if (within) options.budget->within = within;
    options.search.max_count = author.max_count;
    options.search.max_fraction = author.max_fraction;
  }
  if (has_limits(options)) {
    add("limits " + text_of_limits(options), is_authors_limit, "LIBTUNE_BUDGET");
  }
  if (options.longest_search) {
    options.budget = options.budget.value_or(tuning_budget{});
    auto& time = options.budget->time;
    time = std::min(time.value_or(*options.longest_search), *options.longest_search);
    made.sources += fmt::format(
        "{}no longer than {} s", made.sources.empty() ? "" : ", ",
        detail::rounded_text(std::chrono::duration<double>(*options.longest_search).count()));
  }
  if (options.budget && options.budget->within) {
    constexpr const char* variable = "LIBTUNE_GOOD_ENOUGH";
    const auto& variables = resolved.from_environment;
    const bool has_own = std::ranges::find(variables, variable) != variables.end();
    add(fmt::format("good enough within {:g} %", 100 * *options.budget->within), !within,
        has_own ? variable : "LIBTUNE_BUDGET");
  }
  settle(options.search.early_end, author.early_end, "LIBTUNE_EARLY_END",
         [](bool on) { return std::string("early end ") + switch_words.word(on); });
  settle(options.memory, std::optional<memory_budget>(), "LIBTUNE_TUNING_MEMORY",
         [](const memory_budget& memory) { return to_string(memory) + " of device memory"; });
  settle(options.measure, author.measure, "", [](const measure_settings& measure) {
    return fmt::format("{} to {} runs", measure.min_iterations, measure.max_iterations);
  });
  settle(options.verify, author.verify, "",
         [](result_check which) { return std::string("check of ") + check_words.word(which); });
  settle(options.goal, goal_of_author, "LIBTUNE_OBJECTIVE",
         [](const tuning_goal& goal) { return "goal " + to_string(goal); });
  return made;
}

void require_strategy(const tuning_options& resolved) {
  const std::vector<std::string> names = strategy_names();
  if (resolved.strategy.empty() || std::ranges::find(names, resolved.strategy) != names.end()) {
    return;
  }
  constexpr const char* variable = "LIBTUNE_STRATEGY";
  const auto& variables = resolved.from_environment;
  if (std::ranges::find(variables, variable) == variables.end()) {
    throw detail::unknown_strategy(resolved.strategy);
  }
  throw environment_error(variable, resolved.strategy,
                          fmt::format("one of {}", fmt::join(names, ", ")));
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

void detail::tune_here_by_default() noexcept {
  default_isolation.store(isolation_mode::off, std::memory_order_relaxed);
}

void detail::set_test_mode(test_mode wanted) noexcept {
  process_test_mode.store(wanted, std::memory_order_relaxed);
}

}  // namespace tune
