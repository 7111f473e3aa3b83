// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/identity_migration.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "libtune/store/identity_column.hpp"
#include "libtune/store/row_checksum.hpp"

namespace tune::detail {
namespace {

struct old_column {
  std::string name;
  std::string declaration;
  bool in_key = false;
};

std::string declare(const SQLite::Statement& row, const std::string& name) {
  std::string text = quoted_name(name);
  // Only the types of a STRICT table may get from the file into a statement.
  const std::string type = row.getColumn(1).getString();
  for (const char* known : {"INTEGER", "REAL", "TEXT", "BLOB", "ANY"}) {
    if (type == known) text += " " + type;
  }
  if (row.getColumn(2).getInt() != 0) text += " NOT NULL";
  if (name == "score_ns") text += R"( CHECK ("score_ns" > 0 AND "score_ns" < 9e999))";
  return text;
}

std::vector<old_column> columns_of(SQLite::Database& database, const std::string& table) {
  SQLite::Statement select(database,
                           "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)");
  select.bind(1, table);
  std::vector<old_column> columns;
  while (select.executeStep()) {
    const std::string name = select.getColumn(0).getString();
    columns.push_back({name, declare(select, name), select.getColumn(3).getInt() != 0});
  }
  return columns;
}

bool has(const std::vector<old_column>& columns, const std::string& name) {
  return std::ranges::find(columns, name, &old_column::name) != columns.end();
}

// A column that is to become a part of the key needs a new table.
void rebuild_function_table(SQLite::Database& database, const std::string& table,
                            const std::vector<old_column>& before) {
  std::vector<std::string> declared;
  std::vector<std::string> kept;
  std::vector<std::string> key;
  for (const old_column& column : before) {
    declared.push_back(column.declaration);
    kept.push_back(quoted_name(column.name));
    if (column.in_key) key.push_back(quoted_name(column.name));
  }
  for (const identity_column& column : identity_columns()) {
    if (has(before, column.name)) continue;
    declared.push_back(identity_column_sql(column));
    key.push_back(quoted_name(column.name));
  }
  const std::string made = quoted_name("libtune_migrated");
  database.exec(fmt::format("CREATE TABLE {} ({}, PRIMARY KEY ({})) STRICT, WITHOUT ROWID", made,
                            fmt::join(declared, ", "), fmt::join(key, ", ")));
  database.exec(fmt::format("INSERT INTO {} ({}) SELECT {} FROM {}", made, fmt::join(kept, ", "),
                            fmt::join(kept, ", "), quoted_name(table)));
  database.exec("DROP TABLE " + quoted_name(table));
  database.exec(fmt::format("ALTER TABLE {} RENAME TO {}", made, quoted_name(table)));
}

void add_canonical_device(SQLite::Database& database) {
  database.exec(
      "ALTER TABLE libtune_search ADD COLUMN device_canonical TEXT NOT NULL DEFAULT '';"
      "DROP INDEX IF EXISTS libtune_search_by_key;"
      "CREATE INDEX libtune_search_by_key ON libtune_search "
      "(table_name, arguments_canonical, device_canonical)");
  SQLite::Statement select(
      database, "SELECT id, device_name, device_platform, device_version FROM libtune_search");
  SQLite::Statement update(database, "UPDATE libtune_search SET device_canonical = ? WHERE id = ?");
  while (select.executeStep()) {
    const device_identity device{select.getColumn(1).getString(), select.getColumn(2).getString(),
                                 select.getColumn(3).getString()};
    update.bind(1, canonical_text(device));
    update.bind(2, select.getColumn(0).getInt64());
    update.exec();
    update.reset();
  }
}

}  // namespace

void add_device_identity(SQLite::Database& database, const std::string& table) {
  if (table == "libtune_search") {
    add_canonical_device(database);
    return;
  }
  const std::vector<old_column> columns = columns_of(database, table);
  if (has(columns, "device_version") && !table.starts_with("libtune_")) {
    rebuild_function_table(database, table, columns);
  }
}

}  // namespace tune::detail
