// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/written_rows.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {

void change_database(const std::string& path, const std::string& attempt,
                     const std::function<bool(connection&)>& change) {
  const std::string file = absolute_path(path);
  if (!is_there(file)) return;
  try {
    const database_lock lock(file, lock_kind::shared, tool_wait);
    connection target(file, tool_wait, tool_wait);
    if (!target.is_ready()) return;
    write_transaction transaction(target, tool_wait);
    if (change(target)) transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw database_failure(file, attempt, failure);
  }
}

namespace {

std::vector<bound_column> bound(const raw_table& table, const column_values& columns) {
  std::vector<bound_column> row;
  for (const auto& [name, v] : columns) {
    // The target need not know a column with an empty value.
    if (!std::holds_alternative<std::monostate>(v)) row.push_back(table.bind(name, v));
  }
  return row;
}

void write_trial(connection& target, search_tables& tables, std::int64_t search,
                 std::int64_t position, const trial_content& trial) {
  column_values columns = trial.columns;
  const auto metrics = columns.extract(metrics_column);
  std::vector<bound_column> row = bound(tables.trials, columns);
  row.push_back(bind_column("search_id", search));
  row.push_back(bind_column("position", position));
  row.push_back(bind_column(configuration_column, configuration_to_json(trial.configuration)));
  tables.trials.write(row);
  if (metrics.empty() || std::holds_alternative<std::monostate>(metrics.mapped())) return;
  if (!tables.metrics) {
    target.database().exec(create_metrics_sql);
    tables.open_metrics(target);
  }
  tables.metrics->write({bind_column("search_id", search), bind_column("position", position),
                         tables.metrics->bind(metrics_column, metrics.mapped())});
}

}  // namespace

void write_result(raw_table& results, const result_content& result) {
  std::vector<bound_column> row = bound(results, result.columns);
  for (const named_value& item : result.arguments) {
    row.push_back(bind_column(argument_prefix + item.name, item.value, true));
  }
  for (const named_value& item : result.values) {
    row.push_back(bind_column(value_prefix + item.name, item.value, false));
  }
  results.write(row, true);
}

void write_search(connection& target, search_tables& tables, const function_identity& function,
                  const search_content& search) {
  const auto id = static_cast<std::int64_t>(next_search(target));
  column_values columns = search.columns;
  std::map<const side_table*, column_values> notes;
  for (const side_table& side : side_tables()) {
    for (const std::string& name : side.layout.columns) {
      if (auto own = columns.extract(name)) notes[&side].insert(std::move(own));
    }
  }
  std::vector<bound_column> row = bound(tables.searches, columns);
  row.push_back(bind_column("id", id));
  row.push_back(bind_column("table_name", table_name(function)));
  tables.searches.write(row);
  for (const auto& [side, noted] : notes) {
    if (!tables.sides.contains(side)) {
      target.database().exec(side->create_sql);
      tables.open(target, *side);
    }
    row = bound(tables.sides.at(side), noted);
    row.push_back(bind_column("search_id", id));
    tables.sides.at(side).write(row);
  }
  std::int64_t position = 0;
  for (const trial_content& trial : search.trials)
    write_trial(target, tables, id, position++, trial);
}

}  // namespace tune::detail
