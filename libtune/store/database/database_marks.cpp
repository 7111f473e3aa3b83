// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_marks.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <vector>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/row_checksum.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

constexpr int fixed_tables = 5;

const std::vector<std::string>& meta_columns() {
  static const never_destroyed<std::vector<std::string>> columns(
      std::vector<std::string>{"name", "value"});
  return *columns;
}

/// Whether tables of a newer version can still be read by this libtune, as they say themselves.
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

database_fault other_tables(const std::string& path) {
  return database_failure(
      path, "use it", "its tables are not those that libtune makes",
      "a development version from before libtune 0.1.0 has made it, or somebody has taken a table "
      "away: rename or remove the file, which is left as it is, or name another with LIBTUNE_DB");
}

}  // namespace

database_fault newer_tables(const std::string& path, const std::string& attempt,
                            std::int32_t version) {
  return database_failure(path, attempt,
                          "its tables have version " + std::to_string(version) +
                              " and this libtune knows version " + std::to_string(schema_version),
                          "use the libtune that wrote it, or name another file with LIBTUNE_DB; if "
                          "that was a development version from before 0.1.0, rename or remove the "
                          "file, which is left as it is");
}

std::int32_t read_marks(SQLite::Database& database, const std::string& path) {
  // One statement, so that another process that makes the tables just now has made all or none.
  SQLite::Statement marks(
      database,
      "SELECT (SELECT application_id FROM pragma_application_id), "
      "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema), "
      "(SELECT count(*) FROM sqlite_schema WHERE type <> 'index' AND name IN ('libtune_meta', "
      "'libtune_function', 'libtune_search', 'libtune_trial', 'libtune_trial_value'))");
  marks.executeStep();
  const int id = marks.getColumn(0).getInt();
  const int version = marks.getColumn(1).getInt();
  if (id == 0 && version == 0 && marks.getColumn(2).getInt() == 0) return 0;
  if (id != application_id || version < 1) {
    throw database_failure(path, "use it", "the file belongs to another application",
                           "it is left as it is; name another file with LIBTUNE_DB");
  }
  if (version > schema_version && !can_read_newer(database)) {
    throw newer_tables(path, "use it", version);
  }
  if (version == schema_version && marks.getColumn(3).getInt() != fixed_tables) {
    throw other_tables(path);
  }
  return version;
}

void create_fixed_tables(SQLite::Database& database) {
  database.exec(fixed_tables_sql);
  SQLite::Statement oldest(database,
                           insert_row_sql("INSERT OR REPLACE", "libtune_meta", meta_columns()));
  oldest.bind(1, "oldest_reader");
  oldest.bind(2, std::to_string(oldest_reader));
  oldest.exec();
  database.exec("PRAGMA application_id = " + std::to_string(application_id));
  database.exec("PRAGMA user_version = " + std::to_string(schema_version));
}

}  // namespace tune::detail
