// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/trial_log.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <map>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/search_notes.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {
namespace {

/// The columns of libtune_search; the last ones are computed by insert_search.
const row_layout& search_layout() {
  static const never_destroyed<row_layout> layout(
      row_layout{"libtune_search",
                 {"id", "table_name", "arguments_canonical", "device_canonical", "arguments",
                  "device_name", "device_platform", "device_version", "space", "compiler",
                  "library_version", "stage", "started_at", "finished_at", "result"}});
  return *layout;
}

std::int64_t number_of(search_id search) { return static_cast<std::int64_t>(search); }

std::int64_t next_position(connection& target, search_id search) {
  SQLite::Statement next(target.database(),
                         "SELECT coalesce(max(position) + 1, 0) FROM libtune_trial "
                         "WHERE search_id = ?");
  next.bind(1, number_of(search));
  next.executeStep();
  return next.getColumn(0).getInt64();
}

/// Returns the position of the latest trial of a configuration; empty without such trials.
std::optional<std::int64_t> position_of(connection& source, search_id search,
                                        const std::vector<named_value>& configuration) {
  SQLite::Statement select(source.database(),
                           "SELECT position FROM libtune_trial WHERE search_id = ? AND "
                           "configuration = ? ORDER BY position DESC LIMIT 1");
  select.bind(1, number_of(search));
  select.bind(2, configuration_to_json(configuration));
  if (!select.executeStep()) return std::nullopt;
  return select.getColumn(0).getInt64();
}

/// Puts a trial at a position of its search, replacing the one there.
void put_trial(connection& target, search_id search, std::int64_t position,
               const stored_trial& trial) {
  SQLite::Statement insert(target.database(), insert_trial_sql());
  insert.bind(1, number_of(search));
  insert.bind(2, position);
  bind_trial(insert, trial);
  insert.exec();
  if (trial.metrics.empty()) return;  // the metrics of a replaced trial have been removed with it
  target.database().exec(create_metrics_sql);
  SQLite::Statement add(target.database(), metrics_layout().insert("INSERT OR REPLACE"));
  add.bind(1, number_of(search));
  add.bind(2, position);
  add.bind(3, metrics_to_json(trial.metrics));
  add.exec();
}

/// Returns the metrics of the trials of a search, by position.
std::map<std::int64_t, std::vector<metric>> read_metrics(connection& source, search_id search) {
  std::map<std::int64_t, std::vector<metric>> found;
  if (!source.database().tableExists("libtune_metrics")) return found;
  SQLite::Statement select(source.database(), metrics_layout().select() + " WHERE search_id = ?");
  select.bind(1, number_of(search));
  while (select.executeStep()) {
    if (select.getColumn(3).getInt() != 0) {
      found[select.getColumn(1).getInt64()] = metrics_from_json(select.getColumn(2).getString());
    } else {
      warn_of_damaged_row(source.path(), "libtune_metrics");
    }
  }
  return found;
}

/// Reads the trial in a row that trial_layout() selected; empty if it is damaged.
std::optional<stored_trial> trial_in(connection& source, SQLite::Statement& selected) {
  const auto last = static_cast<int>(trial_layout().columns.size());
  if (selected.getColumn(last).getInt() != 0) return read_trial_row(selected);
  warn_of_damaged_row(source.path(), "libtune_trial");
  return std::nullopt;
}

std::string select_trials(const char* conditions) {
  return trial_layout().select() + " WHERE " + conditions;
}

/// Advances to the next intact search.
bool step_to_intact(connection& source, SQLite::Statement& searches) {
  const auto last = static_cast<int>(search_layout().columns.size());
  while (searches.executeStep()) {
    if (searches.getColumn(last).getInt() != 0) return true;
    warn_of_damaged_row(source.path(), "libtune_search");
  }
  return false;
}

/// Binds the function, key and device of a search to three parameters.
void bind_search_key(SQLite::Statement& statement, int first, const function_identity& function,
                     const record_key& key) {
  statement.bind(first, table_name(function));
  statement.bind(first + 1, canonical_arguments(key.arguments));
  statement.bind(first + 2, canonical_text(key.device));
}

constexpr const char* of_search_key =
    "table_name = ? AND arguments_canonical = ? AND device_canonical = ?";

std::string select_searches(const std::string& conditions) {
  return search_layout().select() + " WHERE " + conditions;
}

/// Selects the tables of all goals of a function, because failures do not depend on the goal.
constexpr const char* of_any_goal =
    "table_name IN (SELECT table_name FROM libtune_function WHERE version = ? AND "
    "(name = ? OR name GLOB ?))";

/// Binds a function to the three parameters of that condition.
void bind_any_goal(SQLite::Statement& statement, const function_identity& function) {
  const std::string own = own_name(function.name);
  statement.bind(1, function.version);
  statement.bind(2, own);
  statement.bind(3, own + std::string(goal_mark) + "*");
}

search_id id_in(SQLite::Statement& selected) { return search_id{selected.getColumn(0).getInt64()}; }

search_identity identity_in(connection& source, SQLite::Statement& selected) {
  return {.space = selected.getColumn("space").getString(),
          .compiler = selected.getColumn("compiler").getString(),
          .library_version = selected.getColumn("library_version").getString(),
          .stage = selected.getColumn("stage").getInt(),
          .inputs = read_inputs(source, id_in(selected))};
}

stored_search search_in(connection& source, SQLite::Statement& selected) {
  stored_search search;
  search.id = id_in(selected);
  search.started_at = selected.getColumn("started_at").getString();
  const SQLite::Column finished_at = selected.getColumn("finished_at");
  if (!finished_at.isNull()) search.finished_at = finished_at.getString();
  search.result = selected.getColumn("result").getString();
  search.identity = identity_in(source, selected);
  return search;
}

}  // namespace

// Sorted by name, so that the order of members in the key may change.
std::string canonical_arguments(std::vector<named_value> arguments) {
  std::ranges::sort(arguments, {}, &named_value::name);
  return canonical_text(arguments);
}

search_id next_search(connection& target) {
  SQLite::Statement next(target.database(), "SELECT coalesce(max(id), 0) + 1 FROM libtune_search");
  next.executeStep();
  return id_in(next);
}

search_id insert_search(connection& target, const function_identity& function,
                        const record_key& key, const search_identity& identity) {
  SQLite::Statement insert(
      target.database(),
      search_layout().insert(
          "INSERT", {{"started_at", current_time_sql}, {"finished_at", "NULL"}, {"result", "''"}}));
  const search_id search = next_search(target);
  insert.bind(1, number_of(search));
  bind_search_key(insert, 2, function, key);
  insert.bind(5, to_string(key.arguments));
  insert.bind(6, key.device.name);
  insert.bind(7, key.device.platform);
  insert.bind(8, key.device.driver_version);
  insert.bind(9, identity.space);
  insert.bind(10, identity.compiler);
  insert.bind(11, identity.library_version);
  insert.bind(12, identity.stage);
  insert.exec();
  if (!identity.inputs.empty()) note_inputs(target, search, identity.inputs);
  return search;
}

bool has_search(connection& source, search_id search) {
  SQLite::Statement select(source.database(), "SELECT 1 FROM libtune_search WHERE id = ? AND " +
                                                  search_layout().intact());
  select.bind(1, number_of(search));
  return select.executeStep();
}

void insert_trial(connection& target, search_id search, const stored_trial& trial) {
  put_trial(target, search, next_position(target, search), trial);
}

void replace_trial(connection& target, search_id search, const stored_trial& trial) {
  const auto position = position_of(target, search, trial.configuration);
  put_trial(target, search, position ? *position : next_position(target, search), trial);
}

void end_search(connection& target, search_id search, const std::string& result) {
  SQLite::Statement update(
      target.database(),
      search_layout().update({{"result", "?1"}, {"finished_at", current_time_sql}}) +
          " WHERE id = ?2");
  update.bind(1, result);
  update.bind(2, number_of(search));
  update.exec();
}

std::vector<stored_trial> read_scores(connection& source, search_id search, std::size_t most) {
  SQLite::Statement select(
      source.database(),
      "SELECT configuration, outcome, score_ns, level, " + trial_layout().intact() +
          " FROM libtune_trial WHERE search_id = ? ORDER BY score_ns IS NULL, score_ns LIMIT ?");
  select.bind(1, number_of(search));
  select.bind(2, static_cast<std::int64_t>(most));
  std::vector<stored_trial> trials;
  while (select.executeStep()) {
    if (select.getColumn(4).getInt() == 0) {
      warn_of_damaged_row(source.path(), "libtune_trial");
      continue;
    }
    stored_trial& trial = trials.emplace_back();
    trial.configuration = configuration_from_json(select.getColumn(0).getString());
    trial.outcome = select.getColumn(1).getString();
    if (const SQLite::Column score = select.getColumn(2); !score.isNull()) {
      trial.score_ns = score.getDouble();
    }
    if (const SQLite::Column level = select.getColumn(3); !level.isNull()) {
      trial.level = level.getDouble();
    }
  }
  return trials;
}

std::optional<stored_search> read_search_result(connection& source,
                                                const function_identity& function,
                                                const record_key& key, std::optional<int> stage) {
  std::string conditions = of_search_key;
  if (stage) conditions += " AND stage = ?";
  SQLite::Statement select(source.database(), select_searches(conditions + " ORDER BY id DESC"));
  bind_search_key(select, 1, function, key);
  if (stage) select.bind(4, *stage);
  if (!step_to_intact(source, select)) return std::nullopt;
  return search_in(source, select);
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
  auto metrics = read_metrics(source, search);
  std::vector<stored_trial> trials;
  while (select.executeStep()) {
    auto trial = trial_in(source, select);
    if (!trial) continue;
    const auto own = metrics.find(select.getColumn(1).getInt64());
    if (own != metrics.end()) trial->metrics = std::move(own->second);
    trials.push_back(*std::move(trial));
  }
  return trials;
}

std::optional<stored_trial> read_trial(connection& source, search_id search,
                                       std::int64_t position) {
  SQLite::Statement select(source.database(), select_trials("search_id = ? AND position = ?"));
  select.bind(1, number_of(search));
  select.bind(2, position);
  if (!select.executeStep()) return std::nullopt;
  return trial_in(source, select);
}

std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const device_identity& device, const std::string& compiler) {
  SQLite::Statement select(
      source.database(),
      select_searches(std::string(of_any_goal) + " AND device_canonical = ? AND compiler = ? "
                                                 "ORDER BY id DESC LIMIT 256"));
  bind_any_goal(select, function);
  select.bind(4, canonical_text(device));
  select.bind(5, compiler);
  std::vector<search_id> searches;
  while (step_to_intact(source, select)) searches.push_back(id_in(select));
  return searches;
}

std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const record_key& key, const search_identity& identity) {
  SQLite::Statement select(
      source.database(),
      select_searches(std::string(of_any_goal) +
                      " AND arguments_canonical = ? AND device_canonical = ? AND compiler = ? AND "
                      "library_version = ? AND stage = ? ORDER BY id DESC LIMIT 256"));
  bind_any_goal(select, function);
  select.bind(4, canonical_arguments(key.arguments));
  select.bind(5, canonical_text(key.device));
  select.bind(6, identity.compiler);
  select.bind(7, identity.library_version);
  select.bind(8, identity.stage);
  std::vector<search_id> searches;
  while (step_to_intact(source, select)) searches.push_back(id_in(select));
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
  bind_search_key(select, 1, function, key);
  select.bind(4, number_of(search));
  select.bind(5, identity.space);
  select.bind(6, identity.stage);
  return step_to_intact(source, select);
}

// Selects only the trial's own position, so that the samples of others are not read.
std::optional<result_origin> read_origin(connection& source, const function_identity& function,
                                         const record_key& key,
                                         const std::vector<named_value>& values) {
  SQLite::Statement select(
      source.database(),
      "SELECT id, position, started_at, space, compiler, library_version, stage "
      "FROM libtune_search JOIN libtune_trial ON search_id = id WHERE " +
          std::string(of_search_key) +
          " AND outcome = 'measured' AND configuration = ? ORDER BY id DESC, position DESC");
  bind_search_key(select, 1, function, key);
  select.bind(4, configuration_to_json(values));
  if (!select.executeStep()) return std::nullopt;
  auto trial = read_trial(source, id_in(select), select.getColumn("position").getInt64());
  if (!trial || !has_search(source, id_in(select))) return std::nullopt;
  return result_origin{.search = identity_in(source, select),
                       .searched_at = select.getColumn("started_at").getString(),
                       .programs = std::move(trial->programs),
                       .ending = read_course(source, id_in(select)).ending,
                       .seeds = read_seeds(source, id_in(select))};
}

}  // namespace tune::detail
