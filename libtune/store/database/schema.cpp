// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <vector>

#include "libtune/store/database/column.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/row_checksum.hpp"

namespace tune::detail {
namespace {

std::vector<std::string> prefixed(std::string_view prefix,
                                  const std::vector<field_description>& fields) {
  std::vector<std::string> names;
  for (const field_description& field : fields) names.push_back(std::string(prefix) + field.name);
  return names;
}

std::vector<std::string> key_columns(const function_identity& function) {
  std::vector<std::string> names = prefixed("arg_", function.key_fields);
  for (const identity_column& column : identity_columns()) names.emplace_back(column.name);
  return names;
}

/// All columns but the checksum, in the order in which store_sql takes them.
std::vector<std::string> row_columns(const function_identity& function) {
  std::vector<std::string> names = key_columns(function);
  names.emplace_back("score_ns");
  for (std::string& name : prefixed("value_", function.value_fields)) {
    names.push_back(std::move(name));
  }
  names.emplace_back("tuned_at");
  return names;
}

std::string conditions(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) {
    text += fmt::format("{}{} = ?", text.empty() ? " WHERE " : " AND ", quoted_name(column));
  }
  return text;
}

std::map<std::string, std::string, std::less<>> parse_columns(std::string_view description) {
  std::map<std::string, std::string, std::less<>> types;
  while (!description.empty()) {
    const std::string_view line = description.substr(0, description.find('\n'));
    description.remove_prefix(std::min(line.size() + 1, description.size()));
    const std::size_t space = std::min(line.find(' '), line.size());
    types.emplace(line.substr(0, space), line.substr(std::min(space + 1, line.size())));
  }
  return types;
}

}  // namespace

const char* const fixed_tables_sql = R"sql(
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
  configuration TEXT NOT NULL,  -- for people; libtune_trial_value has it exactly
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

CREATE TABLE libtune_trial_value (
  search_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  field INTEGER NOT NULL,  -- the order of the fields
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  value ANY,
  checksum BLOB NOT NULL,
  PRIMARY KEY (search_id, position, field),
  FOREIGN KEY (search_id, position) REFERENCES libtune_trial (search_id, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
)sql";

std::string create_table_sql(const function_identity& function) {
  std::string text =
      fmt::format("CREATE TABLE IF NOT EXISTS {} (\n", quoted_name(table_name(function)));
  for (const field_description& field : function.key_fields) {
    text += fmt::format("  \"arg_{}\" {} NOT NULL,\n", field.name, column_type(field, true));
  }
  for (const identity_column& column : identity_columns()) {
    text += fmt::format("  {},\n", identity_column_sql(column));
  }
  for (const field_description& field : function.value_fields) {
    text += fmt::format("  \"value_{}\" {}{},\n", field.name, column_type(field, false),
                        field.optional ? "" : " NOT NULL");
  }
  return text + fmt::format(
                    "  \"score_ns\" REAL CHECK (\"score_ns\" > 0 AND \"score_ns\" < 9e999),\n"
                    "  \"tuned_at\" TEXT NOT NULL,\n"
                    "  \"checksum\" BLOB NOT NULL,\n"
                    "  PRIMARY KEY ({})\n"
                    ") STRICT, WITHOUT ROWID",
                    quoted_names(key_columns(function)));
}

std::string find_sql(const function_identity& function) {
  const std::string table = table_name(function);
  std::vector<std::string> selected = prefixed("value_", function.value_fields);
  selected.insert(selected.begin(), "score_ns");
  return fmt::format("SELECT {}, {} FROM {}{}", quoted_names(selected),
                     is_intact(table, row_columns(function)), quoted_name(table),
                     conditions(key_columns(function)));
}

std::string devices_sql(const function_identity& function) {
  const std::string table = table_name(function);
  const std::string of_key = conditions(prefixed("arg_", function.key_fields));
  std::vector<std::string> selected;
  for (const identity_column& column : identity_columns()) selected.emplace_back(column.name);
  return fmt::format("SELECT {} FROM {}{}{}{}", quoted_names(selected), quoted_name(table), of_key,
                     of_key.empty() ? " WHERE " : " AND ", is_intact(table, row_columns(function)));
}

std::string of_device_sql(const function_identity& function) {
  const std::string table = table_name(function);
  std::vector<std::string> selected = prefixed("arg_", function.key_fields);
  for (std::string& column : prefixed("value_", function.value_fields)) {
    selected.push_back(std::move(column));
  }
  std::vector<std::string> of_device;
  for (const identity_column& column : identity_columns()) of_device.emplace_back(column.name);
  // A checksum takes longer than the rest, and all rows of the device are looked at.
  return fmt::format(
      "SELECT {} FROM (SELECT * FROM {}{} ORDER BY \"tuned_at\" DESC LIMIT ?) WHERE {}",
      quoted_names(selected), quoted_name(table), conditions(of_device),
      is_intact(table, row_columns(function)));
}

std::string store_sql(const function_identity& function) {
  std::vector<column_term> terms;
  for (std::string& column : row_columns(function)) terms.push_back({std::move(column), ""});
  terms.back().expression = current_time_sql;
  return insert_row_sql("INSERT OR REPLACE", table_name(function), std::move(terms));
}

std::string describe_columns(const function_identity& function) {
  std::map<std::string, std::string> lines;
  const auto add = [&](const char* prefix, const field_description& field) {
    const std::string column = prefix + field.name;
    lines[column] = fmt::format("{} {}{}\n", column, value_type_name(field.type),
                                field.optional ? " optional" : "");
  };
  for (const field_description& field : function.key_fields) add("arg_", field);
  for (const field_description& field : function.value_fields) add("value_", field);
  std::string text;
  for (const auto& [column, line] : lines) text += line;
  return text;
}

std::string describe_drift(std::string_view stored, std::string_view current) {
  const auto before = parse_columns(stored);
  const auto now = parse_columns(current);
  std::vector<std::string> changes;
  for (const auto& [column, type] : before) {
    const auto same = now.find(column);
    if (same == now.end()) {
      changes.push_back(fmt::format("{} is gone", column));
    } else if (same->second != type) {
      changes.push_back(fmt::format("{} was {} and is {}", column, type, same->second));
    }
  }
  for (const auto& [column, type] : now) {
    if (!before.contains(column)) changes.push_back(fmt::format("{} is new", column));
  }
  return fmt::format("{}", fmt::join(changes, ", "));
}

}  // namespace tune::detail
