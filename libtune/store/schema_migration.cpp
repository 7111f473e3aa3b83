// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/schema_migration.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <string>
#include <vector>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/identity_migration.hpp"
#include "libtune/store/row_checksum.hpp"
#include "libtune/store/schema.hpp"

namespace tune::detail {
namespace {

const std::vector<std::string>& meta_columns() {
  static const never_destroyed<std::vector<std::string>> columns(
      std::vector<std::string>{"name", "value"});
  return *columns;
}

std::vector<std::string> read_names(SQLite::Database& database, const std::string& sql,
                                    const std::string& parameter = "") {
  SQLite::Statement select(database, sql);
  if (!parameter.empty()) select.bind(1, parameter);
  std::vector<std::string> names;
  while (select.executeStep()) names.push_back(select.getColumn(0).getString());
  return names;
}

// Only those that are there: a person may have removed a table by hand.
std::vector<std::string> tables_of_version_1(SQLite::Database& database) {
  return read_names(database,
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name IN "
                    "('libtune_function', 'libtune_search', 'libtune_trial', "
                    "'libtune_trial_value') OR name IN (SELECT table_name FROM libtune_function))");
}

void compute_checksums(SQLite::Database& database, const std::string& table) {
  const std::vector<std::string> columns =
      read_names(database, "SELECT name FROM pragma_table_info(?) WHERE name <> 'checksum'", table);
  database.exec("UPDATE " + quoted_name(table) +
                " SET checksum = " + checksum_expression(table, columns));
}

void write_marks(SQLite::Database& database) {
  SQLite::Statement oldest(database,
                           insert_row_sql("INSERT OR REPLACE", "libtune_meta", meta_columns()));
  oldest.bind(1, "oldest_reader");
  oldest.bind(2, std::to_string(oldest_reader));
  oldest.exec();
  database.exec("PRAGMA application_id = " + std::to_string(application_id));
  database.exec("PRAGMA user_version = " + std::to_string(schema_version));
}

void add_column(SQLite::Database& database, const std::string& table, const std::string& column) {
  database.exec("ALTER TABLE " + quoted_name(table) + " ADD COLUMN " + column);
}

void add_search_columns(SQLite::Database& database) {
  for (const char* column :
       {"space TEXT NOT NULL DEFAULT ''", "compiler TEXT NOT NULL DEFAULT ''",
        "library_version TEXT NOT NULL DEFAULT ''", "stage INTEGER NOT NULL DEFAULT 0"}) {
    add_column(database, "libtune_search", column);
  }
}

void add_trial_columns(SQLite::Database& database) {
  for (const char* column :
       {"remembered INTEGER NOT NULL DEFAULT 0 CHECK (remembered IN (0, 1))",
        "programs TEXT NOT NULL DEFAULT ''", "made_at TEXT NOT NULL DEFAULT ''"}) {
    add_column(database, "libtune_trial", column);
  }
}

// Version 2 has a checksum in every row and the whole identity of the device, and says more of
// searches and trials.
void migrate_from_1(SQLite::Database& database) {
  database.exec(meta_table_sql);
  const std::vector<std::string> tables = tables_of_version_1(database);
  for (const std::string& table : tables) add_device_identity(database, table);
  for (const std::string& table : tables) {
    if (table == "libtune_search") add_search_columns(database);
    if (table == "libtune_trial") add_trial_columns(database);
    add_column(database, table, "checksum BLOB NOT NULL DEFAULT x''");
  }
  for (const std::string& table : tables) compute_checksums(database, table);
}

// A checksum is computed anew only where the old one is right: a damaged row stays damaged.
void add_interval_and_level(SQLite::Database& database) {
  const std::vector<std::string> before = read_names(
      database, "SELECT name FROM pragma_table_info('libtune_trial') WHERE name <> 'checksum'");
  if (before.empty()) return;  // a person has removed the table by hand
  add_column(database, "libtune_trial",
             "score_lower_ns REAL CHECK (score_lower_ns >= 0 AND score_lower_ns < 9e999)");
  add_column(database, "libtune_trial",
             "score_upper_ns REAL CHECK (score_upper_ns > 0 AND score_upper_ns < 9e999)");
  add_column(database, "libtune_trial", "level REAL CHECK (level > 0 AND level < 9e999)");
  std::vector<std::string> after = before;
  after.insert(after.end(), {"score_lower_ns", "score_upper_ns", "level"});
  database.exec(
      "UPDATE libtune_trial SET checksum = " + checksum_expression("libtune_trial", after) +
      " WHERE " + is_intact("libtune_trial", before));
}

// Version 3 has the confidence interval of each trial's score, and the level of the device.
void migrate_from_2(SQLite::Database& database) { add_interval_and_level(database); }

}  // namespace

void create_fixed_tables(SQLite::Database& database) {
  database.exec(meta_table_sql);
  database.exec(fixed_tables_sql);
  write_marks(database);
}

void migrate_tables(SQLite::Database& database, std::int32_t version) {
  if (version == 1) migrate_from_1(database);
  if (version <= 2) migrate_from_2(database);
  write_marks(database);
}

bool can_read_newer(SQLite::Database& database) {
  try {
    SQLite::Statement select(database,
                             "SELECT CAST(value AS INTEGER) FROM libtune_meta "
                             "WHERE name = 'oldest_reader' AND " +
                                 is_intact("libtune_meta", meta_columns()));
    return select.executeStep() && select.getColumn(0).getInt() <= schema_version;
  } catch (const SQLite::Exception&) {
    return false;  // no such table or columns: nothing says that it can be read
  }
}

}  // namespace tune::detail
