// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/schema.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <sqlite3.h>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/base/sha256.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t checksum_bytes = 16;
// SQLite passes at most 127 arguments to a function.
constexpr std::size_t columns_at_once = 100;

void append_bytes(std::string& text, char kind, const void* bytes, int count) {
  fmt::format_to(std::back_inserter(text), "{}{}:", kind, count);
  if (count > 0) text.append(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  text += ';';
}

void append_value(std::string& text, sqlite3_value* v) {
  const auto out = std::back_inserter(text);
  switch (sqlite3_value_type(v)) {
    case SQLITE_NULL: text += "n;"; break;
    case SQLITE_INTEGER: fmt::format_to(out, "i{};", sqlite3_value_int64(v)); break;
    case SQLITE_FLOAT: text += "f" + exact_text(sqlite3_value_double(v)) + ";"; break;
    case SQLITE_TEXT: {
      const unsigned char* bytes = sqlite3_value_text(v);  // before its length is requested
      append_bytes(text, 't', bytes, sqlite3_value_bytes(v));
      break;
    }
    default: {
      const void* bytes = sqlite3_value_blob(v);
      append_bytes(text, 'b', bytes, sqlite3_value_bytes(v));
    }
  }
}

// No exception may pass through SQLite.
void compute(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  try {
    std::string text;
    for (sqlite3_value* v : std::span(values, static_cast<std::size_t>(count))) {
      append_value(text, v);
    }
    const sha256_digest digest = sha256(std::as_bytes(std::span(text)));
    sqlite3_result_blob(context, digest.data(), static_cast<int>(checksum_bytes), SQLITE_TRANSIENT);
  } catch (const std::exception& failure) {
    sqlite3_result_error(context, failure.what(), -1);
  }
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void register_row_checksum(SQLite::Database& database) {
  database.check(sqlite3_create_function_v2(
      database.getHandle(), "libtune_checksum", -1,
      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
      [](sqlite3_context* context, int count, sqlite3_value** values) {
        compute(context, count, values);
      },
      nullptr, nullptr, nullptr));
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back(quoted_name(name));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

std::string checksum_expression(std::string_view table, std::vector<column_term> terms) {
  std::ranges::sort(terms, {}, &column_term::column);
  std::string subject = std::string(table) + "(";
  for (const column_term& term : terms) subject += term.column + ",";
  std::string expression = quoted_text(subject + ")");
  for (std::size_t first = 0; first == 0 || first < terms.size(); first += columns_at_once) {
    const std::size_t last = std::min(first + columns_at_once, terms.size());
    for (std::size_t i = first; i < last; ++i) expression += ", " + terms[i].expression;
    expression = fmt::format("libtune_checksum({})", expression);
  }
  return expression;
}

std::vector<column_term> row_layout::terms(const std::vector<column_term>& given) const {
  std::vector<column_term> all;
  for (const std::string& column : columns) {
    const auto found = std::ranges::find(given, column, &column_term::column);
    all.push_back(found != given.end() ? *found : column_term{column, quoted_name(column)});
  }
  return all;
}

std::string row_layout::intact() const {
  return "checksum IS " + checksum_expression(table, terms({}));
}

std::string row_layout::select() const {
  return fmt::format("SELECT {}, {} FROM {}", quoted_names(columns), intact(), quoted_name(table));
}

std::string row_layout::insert(std::string_view verb,
                               const std::vector<column_term>& computed) const {
  std::vector<column_term> given;
  for (const std::string& column : columns) {
    given.push_back({column, fmt::format("?{}", given.size() + 1)});
    const auto found = std::ranges::find(computed, column, &column_term::column);
    if (found != computed.end()) given.back().expression = found->expression;
  }
  std::string values;
  for (const column_term& term : given) values += term.expression + ", ";
  return fmt::format("{} INTO {} ({}, \"checksum\") VALUES ({}{})", verb, quoted_name(table),
                     quoted_names(columns), values, checksum_expression(table, given));
}

std::string row_layout::update(const std::vector<column_term>& changed) const {
  std::string text = fmt::format("UPDATE {} SET ", quoted_name(table));
  for (const column_term& term : changed) {
    text += fmt::format("{} = {}, ", quoted_name(term.column), term.expression);
  }
  return text + "\"checksum\" = " + checksum_expression(table, terms(changed));
}

void warn_of_damaged_row(const std::string& path, std::string_view table) {
  warn_once(
      fmt::format("tuning database '{}': a row of '{}' is damaged, because its checksum is "
                  "wrong; it counts as missing, and the next result replaces it",
                  path, table));
}

namespace {

/// The version of the oldest libtune that can read tables of this version. Stored in libtune_meta
/// as "oldest_reader", by which older versions know how they may use a newer file.
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

/// True if tables of a newer version are marked as readable for this libtune.
bool can_read_newer(SQLite::Database& database) {
  try {
    SQLite::Statement select(database,
                             "SELECT CAST(value AS INTEGER) FROM libtune_meta "
                             "WHERE name = 'oldest_reader' AND " +
                                 meta_layout().intact());
    return select.executeStep() && select.getColumn(0).getInt() <= schema_version;
  } catch (const SQLite::Exception&) {
    return false;  // no such table or columns: no mark
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
  // One statement, so that another process that is creating the tables has created all or none.
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
