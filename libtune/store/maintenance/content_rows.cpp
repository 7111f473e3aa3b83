// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/content_rows.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"

namespace tune::detail {
namespace {

constexpr const char* argument_prefix = "arg_";
constexpr const char* value_prefix = "value_";

/// All columns but those named, which the reader knows otherwise.
column_values other_columns(const raw_table& table, SQLite::Statement& row,
                            const std::vector<std::string_view>& known) {
  column_values columns;
  int index = 0;
  for (const std::string& name : table.columns()) {
    const SQLite::Column column = row.getColumn(index++);
    if (std::ranges::find(known, name) == known.end()) columns[name] = read_column(column);
  }
  return columns;
}

std::vector<named_value> read_fields(SQLite::Statement& row, const std::string& prefix,
                                     const std::vector<field_description>& fields) {
  std::vector<named_value> values;
  for (const field_description& field : fields) {
    values.push_back({field.name, read_field(row.getColumn((prefix + field.name).c_str()), field)});
  }
  return values;
}

result_content result_from(const raw_table& table, SQLite::Statement& row,
                           const function_identity& function) {
  result_content result{.arguments = read_fields(row, argument_prefix, function.key_fields),
                        .values = read_fields(row, value_prefix, function.value_fields),
                        .columns = other_columns(table, row, {})};
  for (const field_description& field : function.key_fields) {
    result.columns.erase(argument_prefix + field.name);
  }
  for (const field_description& field : function.value_fields) {
    result.columns.erase(value_prefix + field.name);
  }
  return result;
}

/// The tables of searches, opened once for many of them.
struct search_tables {
  explicit search_tables(connection& source)
      : searches(source, "libtune_search"),
        trials(source, "libtune_trial"),
        values(source, "libtune_trial_value") {}

  raw_table searches;
  raw_table trials;
  raw_table values;
};

/// The trial in a row; empty if a row of its configuration is damaged.
std::optional<trial_content> trial_from(search_tables& tables, SQLite::Statement& row) {
  trial_content trial{.configuration = {},
                      .columns = other_columns(tables.trials, row, {"search_id", "position"})};
  const std::size_t damaged = tables.values.read(
      {bind_column("search_id", row.getColumn("search_id").getInt64()),
       bind_column("position", row.getColumn("position").getInt64())},
      [&](SQLite::Statement& field) {
        const value_kind kind = kind_from_name(field.getColumn("kind").getString());
        trial.configuration.push_back(
            {field.getColumn("name").getString(), read_value(field.getColumn("value"), kind)});
      });
  if (damaged > 0 || text_of(trial.columns, "configuration") != to_string(trial.configuration)) {
    return std::nullopt;
  }
  return trial;
}

std::vector<trial_content> read_trials(search_tables& tables, std::int64_t search,
                                       std::size_t& damaged) {
  std::vector<trial_content> trials;
  damaged += tables.trials.read({bind_column("search_id", search)}, [&](SQLite::Statement& row) {
    if (auto trial = trial_from(tables, row)) {
      trials.push_back(*std::move(trial));
    } else {
      ++damaged;
    }
  });
  return trials;
}

std::int64_t next_search(connection& target) {
  SQLite::Statement next(target.database(), "SELECT coalesce(max(id), 0) + 1 FROM libtune_search");
  next.executeStep();
  return next.getColumn(0).getInt64();
}

std::vector<bound_column> bound(const column_values& columns) {
  std::vector<bound_column> row;
  for (const auto& [name, v] : columns) {
    // A column that says nothing need not be known to the target.
    if (!std::holds_alternative<std::monostate>(v)) row.push_back(bind_column(name, v));
  }
  return row;
}

void write_trial(search_tables& tables, std::int64_t search, std::int64_t position,
                 const trial_content& trial) {
  std::vector<bound_column> row = bound(trial.columns);
  row.push_back(bind_column("search_id", search));
  row.push_back(bind_column("position", position));
  tables.trials.write(row);
  std::int64_t field = 0;
  for (const named_value& item : trial.configuration) {
    tables.values.write({bind_column("search_id", search), bind_column("position", position),
                         bind_column("field", field++), bind_column("name", item.name),
                         bind_column("kind", std::string(kind_name(kind_of(item.value)))),
                         bind_column("value", item.value, false)});
  }
}

}  // namespace

function_content read_content(connection& source, const function_identity& function,
                              bool with_trials, std::size_t& damaged) {
  const std::string table = table_name(function);
  function_content content{.function = function, .results = {}, .searches = {}};
  raw_table results(source, table);
  damaged += results.read({}, [&](SQLite::Statement& row) {
    content.results.push_back(result_from(results, row, function));
  });
  search_tables tables(source);
  damaged += tables.searches.read({bind_column("table_name", table)}, [&](SQLite::Statement& row) {
    search_content search{.columns = other_columns(tables.searches, row, {"id", "table_name"}),
                          .trials = {},
                          .id = row.getColumn("id").getInt64()};
    if (with_trials) search.trials = read_trials(tables, search.id, damaged);
    content.searches.push_back(std::move(search));
  });
  return content;
}

std::optional<result_content> read_result(raw_table& results, const function_identity& function,
                                          const result_content& wanted) {
  std::vector<bound_column> where;
  for (const named_value& item : wanted.arguments) {
    where.push_back(bind_column(argument_prefix + item.name, item.value, true));
  }
  for (const std::string& name : results.key()) {
    if (name.starts_with(argument_prefix)) continue;
    const auto given = wanted.columns.find(name);
    where.push_back(bind_column(
        name, given != wanted.columns.end() ? given->second : results.default_of(name)));
  }
  std::optional<result_content> found;
  results.read(where, [&](SQLite::Statement& row) { found = result_from(results, row, function); });
  return found;
}

void write_result(raw_table& results, const result_content& result) {
  std::vector<bound_column> row = bound(result.columns);
  for (const named_value& item : result.arguments) {
    row.push_back(bind_column(argument_prefix + item.name, item.value, true));
  }
  for (const named_value& item : result.values) {
    row.push_back(bind_column(value_prefix + item.name, item.value, false));
  }
  results.write(row, true);
}

void write_search(connection& target, const function_identity& function,
                  const search_content& search) {
  search_tables tables(target);
  const std::int64_t id = next_search(target);
  std::vector<bound_column> row = bound(search.columns);
  row.push_back(bind_column("id", id));
  row.push_back(bind_column("table_name", table_name(function)));
  tables.searches.write(row);
  std::int64_t position = 0;
  for (const trial_content& trial : search.trials) write_trial(tables, id, position++, trial);
}

}  // namespace tune::detail
