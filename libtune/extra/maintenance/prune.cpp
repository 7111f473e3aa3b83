// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/prune.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/extra/maintenance/written_rows.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune {
namespace {

using detail::connection;

/// The SQL conditions for some options, with the texts for their parameters.
struct conditions {
  std::string sql = " WHERE 1";
  std::vector<std::string> parameters{};

  void add(const std::string& condition, const std::optional<std::string>& parameter) {
    if (!parameter) return;
    sql += " AND " + condition;
    parameters.push_back(*parameter);
  }
};

std::size_t run_on_rows(connection& target, const std::string& verb, const std::string& table,
                        const conditions& which) {
  SQLite::Statement statement(target.database(),
                              verb + " FROM " + detail::quoted_name(table) + which.sql);
  int number = 1;
  for (const std::string& parameter : which.parameters) statement.bind(number++, parameter);
  if (verb == "DELETE") return static_cast<std::size_t>(statement.exec());
  statement.executeStep();
  return static_cast<std::size_t>(statement.getColumn(0).getInt64());
}

std::size_t remove_rows(connection& target, const std::string& table, const conditions& which) {
  return run_on_rows(target, "DELETE", table, which);
}

std::size_t count_rows(connection& target, const std::string& table, const conditions& which) {
  return run_on_rows(target, "SELECT count(*)", table, which);
}

// A column may have any text, and SQLite accepts some that are not dates.
std::string before(const std::string& column) {
  return column + " GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND julianday(" + column +
         ") < julianday(?)";
}

conditions searches_of(const std::string& table) {
  conditions searches;
  searches.add("table_name = ?", table);
  return searches;
}

detail::sha256_digest digest_of_key(const column_values& columns) {
  return detail::key_digest(text_of(columns, "arguments_canonical"),
                            text_of(columns, "device_canonical"));
}

std::size_t remove_orphans(connection& target, const function_identity& function,
                           const prune_options& options) {
  std::size_t damaged = 0;
  std::set<detail::sha256_digest> present;
  detail::for_each_result(target, function, {}, damaged, [&](const result_content& result) {
    present.insert(digest_of_key(search_columns(result.arguments, result.device())));
  });
  std::size_t removed = 0;
  detail::search_tables tables(target);
  const row_choice of_device{.device_name = options.device.value_or("")};
  for (const std::int64_t number : detail::find_searches(target, function, of_device)) {
    const auto search = detail::read_search(tables, number, false, damaged);
    if (!search || present.contains(digest_of_key(search->columns))) continue;
    conditions which;
    which.add("id = CAST(? AS INTEGER)", std::to_string(number));
    which.add(before("started_at"), options.before);
    removed += remove_rows(target, "libtune_search", which);
  }
  return removed;
}

void forget(connection& target, const std::string& table) {
  SQLite::Statement remove(target.database(), "DELETE FROM libtune_function WHERE table_name = ?");
  remove.bind(1, table);
  remove.exec();
  target.database().exec("DROP TABLE " + detail::quoted_name(table));
}

pruned_function prune_function(connection& target, const function_identity& function,
                               const prune_options& options) {
  const std::string table = table_name(function);
  pruned_function pruned{.name = function.name, .version = function.version};
  if (options.orphans) {
    pruned.searches = remove_orphans(target, function, options);
  } else {
    conditions results;
    results.add("device_name = ?", options.device);
    results.add(before("tuned_at"), options.before);
    pruned.results = remove_rows(target, table, results);
    conditions searches = searches_of(table);
    searches.add("device_name = ?", options.device);
    searches.add(before("started_at"), options.before);
    pruned.searches = remove_rows(target, "libtune_search", searches);
  }
  pruned.results_kept = count_rows(target, table, {});
  pruned.searches_kept = count_rows(target, "libtune_search", searches_of(table));
  pruned.forgotten = options.function && pruned.results_kept == 0 && pruned.searches_kept == 0;
  if (pruned.forgotten) forget(target, table);
  return pruned;
}

void add_up(prune_report& report, pruned_function pruned) {
  report.results += pruned.results;
  report.searches += pruned.searches;
  report.functions += pruned.forgotten ? 1 : 0;
  report.results_kept += pruned.results_kept;
  report.searches_kept += pruned.searches_kept;
  if (pruned.results + pruned.searches > 0 || pruned.forgotten) {
    report.of.push_back(std::move(pruned));
  }
}

pruned_function keep_function(connection& target, const function_identity& function) {
  const std::string table = table_name(function);
  return {.name = function.name,
          .version = function.version,
          .results_kept = count_rows(target, table, {}),
          .searches_kept = count_rows(target, "libtune_search", searches_of(table))};
}

bool is_meant(const function_identity& function, const prune_options& options) {
  return (!options.function || function.name == *options.function) &&
         (!options.version || function.version == *options.version);
}

/// Removes a number with this many digits from the start of a text, and returns it.
std::optional<unsigned> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  unsigned number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

/// Removes a mark and the number after it, and returns the number.
std::optional<unsigned> take_after(std::string_view& text, std::string_view marks,
                                   std::size_t digits) {
  if (text.empty() || marks.find(text.front()) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  return take_number(text, digits);
}

/// Returns hours, minutes and seconds from the rest of a text; empty if it is not a time of day.
std::optional<std::string> time_of_day(std::string_view text) {
  if (text.empty()) return "00:00:00";
  const auto hour = take_after(text, "T ", 2);
  const auto minute = take_after(text, ":", 2);
  const auto second = text.empty() || text == "Z" ? 0 : take_after(text, ":", 2);
  const bool is_over = text.empty() || text == "Z";
  if (!is_over || hour.value_or(24) > 23 || minute.value_or(60) > 59 || second.value_or(60) > 59) {
    return std::nullopt;
  }
  return fmt::format("{:02}:{:02}:{:02}", *hour, *minute, *second);
}

}  // namespace

std::string utc_date(const std::string& text) {
  using std::chrono::day, std::chrono::month, std::chrono::year;
  std::string_view rest = text;
  const auto y = take_number(rest, 4);
  const auto m = take_after(rest, "-", 2);
  const auto d = take_after(rest, "-", 2);
  const bool is_day = y && m && d && (year(static_cast<int>(*y)) / month(*m) / day(*d)).ok();
  const auto time = is_day ? time_of_day(rest) : std::nullopt;
  if (!time) {
    throw argument_error("'" + text +
                         "' is no date: give one such as 2024-01-31 or 2024-01-31T12:00:00Z, in "
                         "UTC");
  }
  return fmt::format("{:04}-{:02}-{:02}T{}Z", *y, *m, *d, *time);
}

prune_report prune_database(const std::string& path, const prune_options& given) {
  prune_options options = given;
  if (given.before) options.before = utc_date(*given.before);
  if (!options.function && !options.device && !options.before && !options.orphans) {
    throw argument_error(
        "the rows to remove are not limited; name a function, a device or a date, or ask for "
        "orphans");
  }
  prune_report report;
  detail::change_database(path, "remove rows", [&](connection& target) {
    std::size_t damaged = 0;
    for (const function_identity& function : detail::read_functions(target, damaged)) {
      add_up(report, is_meant(function, options) ? prune_function(target, function, options)
                                                 : keep_function(target, function));
    }
    return !options.dry_run;
  });
  return report;
}

namespace {

using detail::connection;

stored_incident read_incident(const function_identity& function, SQLite::Statement& row) {
  return {.function = function,
          .arguments = row.getColumn(2).getString(),
          .arguments_canonical = row.getColumn(3).getString(),
          .device = {row.getColumn(4).getString(), row.getColumn(5).getString(),
                     row.getColumn(6).getString()},
          .device_canonical = row.getColumn(7).getString(),
          .search = {.space = row.getColumn(8).getString(),
                     .compiler = row.getColumn(9).getString(),
                     .library_version = row.getColumn(10).getString(),
                     .stage = row.getColumn(11).getInt()},
          .in_search = search_id{row.getColumn(0).getInt64()},
          .position = row.getColumn(1).getInt64(),
          .trial = {}};
}

std::vector<stored_incident> choose(connection& source, std::span<const std::string> outcomes,
                                    const incident_choice& which) {
  std::vector<stored_incident> chosen;
  SQLite::Statement select(
      source.database(),
      "SELECT search_id, position, arguments, arguments_canonical, device_name, device_platform, "
      "device_version, device_canonical, space, compiler, library_version, stage FROM "
      "libtune_trial JOIN libtune_search ON search_id = id WHERE table_name = ? AND " +
          detail::has_outcome_sql(outcomes.size()) + " ORDER BY made_at, search_id, position");
  std::size_t damaged = 0;
  for (const function_identity& function : detail::read_functions(source, damaged)) {
    const detail::statement_run run(select);
    select.bind(1, table_name(function));
    int parameter = 2;
    for (const std::string& outcome : outcomes) select.bind(parameter++, outcome);
    while (select.executeStep()) {
      stored_incident found = read_incident(function, select);
      auto trial = detail::read_trial(source, found.in_search, found.position);
      if (!trial) continue;
      found.trial = *std::move(trial);
      if (which(found)) chosen.push_back(std::move(found));
    }
  }
  return chosen;
}

void remove(connection& target, const stored_incident& incident) {
  SQLite::Statement row(target.database(),
                        "DELETE FROM libtune_trial WHERE search_id = ? AND position = ?");
  row.bind(1, static_cast<std::int64_t>(incident.in_search));
  row.bind(2, incident.position);
  row.exec();
}

}  // namespace

std::vector<stored_incident> list_incidents(const std::string& path,
                                            std::span<const std::string> outcomes,
                                            const incident_choice& which) {
  const std::string file = detail::absolute_path(path);
  if (!detail::is_there(file)) return {};
  try {
    connection source(file, detail::tool_wait, detail::tool_wait);
    if (!source.is_ready()) return {};
    const SQLite::Transaction one_state(source.database());
    return choose(source, outcomes, which);
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "list the denylist", failure);
  }
}

std::size_t forget_incidents(const std::string& path, std::span<const std::string> outcomes,
                             const incident_choice& which) {
  std::size_t forgotten = 0;
  detail::change_database(path, "clear the denylist", [&](connection& target) {
    const std::vector<stored_incident> chosen = choose(target, outcomes, which);
    for (const stored_incident& incident : chosen) remove(target, incident);
    forgotten = chosen.size();
    return true;
  });
  return forgotten;
}

}  // namespace tune
