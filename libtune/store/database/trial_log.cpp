// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/trial_log.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sstream>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/row_checksum.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

using column_names = never_destroyed<std::vector<std::string>>;

const std::vector<std::string>& search_columns() {
  static const column_names columns(std::vector<std::string>{
      "id", "table_name", "arguments", "arguments_canonical", "device_name", "device_platform",
      "device_version", "device_canonical", "started_at", "finished_at", "result", "space",
      "compiler", "library_version", "stage"});
  return *columns;
}
const std::vector<std::string>& trial_columns() {
  static const column_names columns(
      std::vector<std::string>{"search_id", "position", "configuration", "outcome", "message",
                               "score_ns", "samples_ns", "preparation_ns", "remembered", "programs",
                               "score_lower_ns", "score_upper_ns", "level", "made_at"});
  return *columns;
}
const std::vector<std::string>& value_columns() {
  static const column_names columns(
      std::vector<std::string>{"search_id", "position", "field", "name", "kind", "value"});
  return *columns;
}

std::int64_t number_of(search_id search) { return static_cast<std::int64_t>(search); }

// By name, so that members may change places in the key.
std::string canonical_arguments(std::vector<named_value> arguments) {
  std::ranges::sort(arguments, {}, &named_value::name);
  return canonical_text(arguments);
}

std::vector<double> parse_samples(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
  if (!json.is_array() || !std::ranges::all_of(json, is_number)) {
    throw SQLite::Exception("column samples_ns holds '" + text + "', which is no list of numbers",
                            SQLITE_MISMATCH);
  }
  return json.get<std::vector<double>>();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::int64_t next_position(connection& target, search_id search) {
  SQLite::Statement next(target.database(),
                         "SELECT coalesce(max(position) + 1, 0) FROM libtune_trial "
                         "WHERE search_id = ?");
  next.bind(1, number_of(search));
  next.executeStep();
  return next.getColumn(0).getInt64();
}

void insert_configuration(connection& target, search_id search, std::int64_t position,
                          const std::vector<named_value>& configuration) {
  SQLite::Statement insert(target.database(),
                           insert_row_sql("INSERT", "libtune_trial_value", value_columns()));
  int field = 0;
  for (const named_value& item : configuration) {
    insert.bind(1, number_of(search));
    insert.bind(2, position);
    insert.bind(3, field++);
    insert.bind(4, item.name);
    insert.bind(5, std::string(kind_name(kind_of(item.value))));
    bind_value(insert, 6, item.value);
    insert.exec();
    insert.reset();
  }
}

void insert_trial_at(connection& target, search_id search, std::int64_t position,
                     const stored_trial& trial) {
  std::vector<column_term> terms;
  for (const std::string& column : trial_columns()) terms.push_back({column, ""});
  if (trial.made_at.empty()) terms.back().expression = current_time_sql;
  SQLite::Statement insert(target.database(),
                           insert_row_sql("INSERT", "libtune_trial", std::move(terms)));
  insert.bind(1, number_of(search));
  insert.bind(2, position);
  insert.bind(3, to_string(trial.configuration));
  insert.bind(4, trial.outcome);
  insert.bind(5, trial.message);
  if (trial.score_ns) insert.bind(6, *trial.score_ns);
  insert.bind(7, nlohmann::json(trial.samples_ns).dump());
  insert.bind(8, static_cast<std::int64_t>(trial.preparation.count()));
  insert.bind(9, trial.remembered ? 1 : 0);
  insert.bind(10, joined(trial.programs));
  if (trial.score_lower_ns) insert.bind(11, *trial.score_lower_ns);
  if (trial.score_upper_ns) insert.bind(12, *trial.score_upper_ns);
  if (trial.level != 1) insert.bind(13, trial.level);
  if (!trial.made_at.empty()) insert.bind(14, trial.made_at);
  insert.exec();
  insert_configuration(target, search, position, trial.configuration);
}

/// What is left of a configuration: without the fields whose rows are damaged.
std::vector<named_value> read_configuration(connection& source, search_id search,
                                            std::int64_t position) {
  SQLite::Statement select(source.database(),
                           "SELECT name, kind, value FROM libtune_trial_value WHERE search_id = ? "
                           "AND position = ? AND " +
                               is_intact("libtune_trial_value", value_columns()) +
                               " ORDER BY field");
  select.bind(1, number_of(search));
  select.bind(2, position);
  std::vector<named_value> configuration;
  while (select.executeStep()) {
    const value_kind kind = kind_from_name(select.getColumn(1).getString());
    configuration.push_back(
        {select.getColumn(0).getString(), read_value(select.getColumn(2), kind)});
  }
  return configuration;
}

/// Where the latest trial of a configuration stands; empty if there is none. The text for people
/// may be that of several configurations.
std::optional<std::int64_t> position_of(connection& source, search_id search,
                                        const std::vector<named_value>& configuration) {
  SQLite::Statement select(source.database(),
                           "SELECT position FROM libtune_trial WHERE search_id = ? AND "
                           "configuration = ? ORDER BY position DESC");
  select.bind(1, number_of(search));
  select.bind(2, to_string(configuration));
  const std::string exactly = canonical_text(configuration);
  while (select.executeStep()) {
    const std::int64_t position = select.getColumn(0).getInt64();
    if (canonical_text(read_configuration(source, search, position)) == exactly) return position;
  }
  return std::nullopt;
}

/// The trial in the statement's row; none if the row, or one of its configuration's, is damaged.
std::optional<stored_trial> read_trial(connection& source, search_id search,
                                       SQLite::Statement& row) {
  stored_trial trial;
  trial.configuration = read_configuration(source, search, row.getColumn(0).getInt64());
  const bool intact = row.getColumn(6).getInt() != 0 &&
                      row.getColumn(7).getString() == to_string(trial.configuration);
  if (!intact) {
    warn_of_damaged_row(source.path(), "libtune_trial");
    return std::nullopt;
  }
  trial.outcome = row.getColumn(1).getString();
  trial.message = row.getColumn(2).getString();
  if (!row.isColumnNull(3)) trial.score_ns = row.getColumn(3).getDouble();
  trial.samples_ns = parse_samples(row.getColumn(4).getString());
  trial.preparation = std::chrono::nanoseconds(row.getColumn(5).getInt64());
  trial.remembered = row.getColumn(8).getInt() != 0;
  trial.programs = split(row.getColumn(9).getString());
  trial.made_at = row.getColumn(10).getString();
  if (!row.isColumnNull(11)) trial.score_lower_ns = row.getColumn(11).getDouble();
  if (!row.isColumnNull(12)) trial.score_upper_ns = row.getColumn(12).getDouble();
  if (!row.isColumnNull(13)) trial.level = row.getColumn(13).getDouble();
  return trial;
}

/// Selects what read_trial reads.
std::string select_trials(const char* conditions) {
  return "SELECT position, outcome, message, score_ns, samples_ns, preparation_ns, " +
         is_intact("libtune_trial", trial_columns()) +
         ", configuration, remembered, programs, made_at, score_lower_ns, score_upper_ns, level "
         "FROM libtune_trial WHERE " +
         conditions;
}

void compute_search_checksum(connection& target, search_id search) {
  SQLite::Statement update(target.database(),
                           "UPDATE libtune_search SET checksum = " +
                               checksum_expression("libtune_search", search_columns()) +
                               " WHERE id = ?");
  update.bind(1, number_of(search));
  update.exec();
}

/// Goes to the next search that is not damaged.
bool step_to_intact(connection& source, SQLite::Statement& searches) {
  while (searches.executeStep()) {
    if (searches.getColumn(0).getInt() != 0) return true;
    warn_of_damaged_row(source.path(), "libtune_search");
  }
  return false;
}

/// Binds what a search is for to the first three parameters.
void bind_search_key(SQLite::Statement& statement, const function_identity& function,
                     const record_key& key) {
  statement.bind(1, table_name(function));
  statement.bind(2, canonical_arguments(key.arguments));
  statement.bind(3, canonical_text(key.device));
}

constexpr const char* of_search_key =
    "table_name = ? AND arguments_canonical = ? AND device_canonical = ?";

/// Selects what step_to_intact and read_search read.
std::string select_searches(const std::string& conditions) {
  return "SELECT " + is_intact("libtune_search", search_columns()) +
         ", id, started_at, finished_at, result, space, compiler, library_version, stage "
         "FROM libtune_search WHERE " +
         conditions;
}

stored_search read_search(SQLite::Statement& row) {
  stored_search search;
  search.id = search_id{row.getColumn(1).getInt64()};
  search.started_at = row.getColumn(2).getString();
  if (!row.isColumnNull(3)) search.finished_at = row.getColumn(3).getString();
  search.result = row.getColumn(4).getString();
  search.identity = {.space = row.getColumn(5).getString(),
                     .compiler = row.getColumn(6).getString(),
                     .library_version = row.getColumn(7).getString(),
                     .stage = row.getColumn(8).getInt()};
  return search;
}

}  // namespace

search_id insert_search(connection& target, const function_identity& function,
                        const record_key& key, const search_identity& identity) {
  SQLite::Statement insert(target.database(),
                           "INSERT INTO libtune_search (table_name, arguments_canonical, "
                           "device_canonical, device_name, device_platform, device_version, "
                           "arguments, space, compiler, library_version, stage, started_at, "
                           "checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " +
                               std::string(current_time_sql) + ", x'')");
  bind_search_key(insert, function, key);
  insert.bind(4, key.device.name);
  insert.bind(5, key.device.platform);
  insert.bind(6, key.device.driver_version);
  insert.bind(7, to_string(key.arguments));
  insert.bind(8, identity.space);
  insert.bind(9, identity.compiler);
  insert.bind(10, identity.library_version);
  insert.bind(11, identity.stage);
  insert.exec();
  const search_id search{target.database().getLastInsertRowid()};
  compute_search_checksum(target, search);  // the number is part of it
  return search;
}

bool has_search(connection& source, search_id search) {
  SQLite::Statement select(source.database(), "SELECT 1 FROM libtune_search WHERE id = ? AND " +
                                                  is_intact("libtune_search", search_columns()));
  select.bind(1, number_of(search));
  return select.executeStep();
}

void insert_trial(connection& target, search_id search, const stored_trial& trial) {
  insert_trial_at(target, search, next_position(target, search), trial);
}

void replace_trial(connection& target, search_id search, const stored_trial& trial) {
  const auto position = position_of(target, search, trial.configuration);
  if (!position) return insert_trial(target, search, trial);
  for (const char* table : {"libtune_trial_value", "libtune_trial"}) {
    SQLite::Statement remove(target.database(), std::string("DELETE FROM ") + table +
                                                    " WHERE search_id = ? AND position = ?");
    remove.bind(1, number_of(search));
    remove.bind(2, *position);
    remove.exec();
  }
  insert_trial_at(target, search, *position, trial);
}

void end_search(connection& target, search_id search, const std::string& result) {
  SQLite::Statement update(target.database(),
                           "UPDATE libtune_search SET result = ?, "
                           "finished_at = " +
                               std::string(current_time_sql) + " WHERE id = ?");
  update.bind(1, result);
  update.bind(2, number_of(search));
  update.exec();
  compute_search_checksum(target, search);
}

std::optional<stored_search> read_search_result(connection& source,
                                                const function_identity& function,
                                                const record_key& key, std::optional<int> stage) {
  std::string conditions = of_search_key;
  if (stage) conditions += " AND stage = ?";
  SQLite::Statement select(source.database(), select_searches(conditions + " ORDER BY id DESC"));
  bind_search_key(select, function, key);
  if (stage) select.bind(4, *stage);
  if (!step_to_intact(source, select)) return std::nullopt;
  return read_search(select);
}

std::optional<stored_search> read_latest_search(connection& source,
                                                const function_identity& function,
                                                const record_key& key) {
  std::optional<stored_search> search = read_search_result(source, function, key);
  if (search) search->trials = read_trials(source, search->id);
  return search;
}

std::vector<stored_trial> read_trials(connection& source, search_id search) {
  SQLite::Statement select(source.database(), select_trials("search_id = ? ORDER BY position"));
  select.bind(1, number_of(search));
  std::vector<stored_trial> trials;
  while (select.executeStep()) {
    if (auto trial = read_trial(source, search, select)) trials.push_back(*std::move(trial));
  }
  return trials;
}

std::optional<stored_trial> read_trial(connection& source, search_id search,
                                       std::int64_t position) {
  SQLite::Statement select(source.database(), select_trials("search_id = ? AND position = ?"));
  select.bind(1, number_of(search));
  select.bind(2, position);
  if (!select.executeStep()) return std::nullopt;
  return read_trial(source, search, select);
}

std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const device_identity& device, const std::string& compiler) {
  SQLite::Statement select(
      source.database(), select_searches("table_name = ? AND device_canonical = ? AND compiler = ? "
                                         "ORDER BY id DESC LIMIT 256"));
  select.bind(1, table_name(function));
  select.bind(2, canonical_text(device));
  select.bind(3, compiler);
  std::vector<search_id> searches;
  while (step_to_intact(source, select)) searches.push_back(read_search(select).id);
  return searches;
}

std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const record_key& key, const search_identity& identity) {
  SQLite::Statement select(
      source.database(),
      select_searches(std::string(of_search_key) + " AND compiler = ? AND library_version = ? AND "
                                                   "stage = ? ORDER BY id DESC LIMIT 256"));
  bind_search_key(select, function, key);
  select.bind(4, identity.compiler);
  select.bind(5, identity.library_version);
  select.bind(6, identity.stage);
  std::vector<search_id> searches;
  while (step_to_intact(source, select)) searches.push_back(read_search(select).id);
  return searches;
}

std::string has_outcome_sql(std::size_t outcomes) {
  std::string marks;
  for (std::size_t i = 0; i < outcomes; ++i) marks += i == 0 ? "?" : ", ?";
  return "remembered = 0 AND outcome IN (" + marks + ")";
}

bool has_key(connection& source, search_id search, const function_identity& function,
             const record_key& key, const search_identity& identity) {
  SQLite::Statement select(
      source.database(),
      select_searches(std::string(of_search_key) + " AND id = ? AND space = ? AND stage = ?"));
  bind_search_key(select, function, key);
  select.bind(4, number_of(search));
  select.bind(5, identity.space);
  select.bind(6, identity.stage);
  return step_to_intact(source, select);
}

}  // namespace tune::detail
