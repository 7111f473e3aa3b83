// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/schema.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/row.hpp"

namespace tune::detail {
namespace {

/// The version of the oldest libtune that can read tables of this version. Kept in libtune_meta as
/// "oldest_reader", so that older ones know what they may do with a newer file.
constexpr std::int32_t oldest_reader = 1;

constexpr const char* fixed_tables_sql = R"sql(
CREATE TABLE libtune_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  checksum BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE libtune_function (
  table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
  name TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 0),
  columns TEXT NOT NULL,  -- one "<column> <type>[ optional]" a line
  checksum BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE libtune_search (
  id INTEGER PRIMARY KEY,
  table_name TEXT NOT NULL REFERENCES libtune_function (table_name),
  arguments TEXT NOT NULL,  -- for people
  arguments_canonical TEXT NOT NULL,
  device_name TEXT NOT NULL,
  device_platform TEXT NOT NULL,
  device_version TEXT NOT NULL,
  device_canonical TEXT NOT NULL,  -- the whole identity
  started_at TEXT NOT NULL,
  finished_at TEXT,
  result TEXT NOT NULL DEFAULT '',
  space TEXT NOT NULL DEFAULT '',  -- the fingerprint of what was searched
  compiler TEXT NOT NULL DEFAULT '',
  library_version TEXT NOT NULL DEFAULT '',
  stage INTEGER NOT NULL DEFAULT 0,  -- which of the searches of one call
  checksum BLOB NOT NULL
) STRICT;
CREATE INDEX libtune_search_by_key ON libtune_search
  (table_name, arguments_canonical, device_canonical);

CREATE TABLE libtune_trial (
  search_id INTEGER NOT NULL REFERENCES libtune_search (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  configuration TEXT NOT NULL,  -- an exact JSON object of its fields
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  score_ns REAL CHECK (score_ns > 0 AND score_ns < 9e999),
  samples_ns TEXT NOT NULL,  -- a JSON array
  preparation_ns INTEGER NOT NULL,
  remembered INTEGER NOT NULL DEFAULT 0 CHECK (remembered IN (0, 1)),  -- not tried again
  programs TEXT NOT NULL DEFAULT '',  -- digests, with spaces between
  made_at TEXT NOT NULL DEFAULT '',
  score_lower_ns REAL CHECK (score_lower_ns >= 0 AND score_lower_ns < 9e999),
  score_upper_ns REAL CHECK (score_upper_ns > 0 AND score_upper_ns < 9e999),
  level REAL CHECK (level > 0 AND level < 9e999),  -- of the device; NULL: that of the begin
  checksum BLOB NOT NULL,
  PRIMARY KEY (search_id, position)
) STRICT, WITHOUT ROWID;
)sql";

constexpr int fixed_tables = 4;

const row_layout& meta_layout() {
  static const never_destroyed<row_layout> layout(row_layout{"libtune_meta", {"name", "value"}});
  return *layout;
}

/// True if tables of a newer version say that this libtune can still read them.
bool can_read_newer(SQLite::Database& database) {
  try {
    SQLite::Statement select(database,
                             "SELECT CAST(value AS INTEGER) FROM libtune_meta "
                             "WHERE name = 'oldest_reader' AND " +
                                 meta_layout().intact());
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
      "'libtune_function', 'libtune_search', 'libtune_trial'))");
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
  SQLite::Statement oldest(database, meta_layout().insert("INSERT OR REPLACE"));
  oldest.bind(1, "oldest_reader");
  oldest.bind(2, std::to_string(oldest_reader));
  oldest.exec();
  database.exec("PRAGMA application_id = " + std::to_string(application_id));
  database.exec("PRAGMA user_version = " + std::to_string(schema_version));
}

}  // namespace tune::detail
