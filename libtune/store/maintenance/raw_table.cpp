// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/raw_table.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <sqlite3.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"

namespace tune::detail {
namespace {

constexpr const char* checksum = "checksum";

struct binder {
  void operator()(std::monostate) const { statement.bind(parameter); }
  void operator()(std::int64_t i) const { statement.bind(parameter, i); }
  void operator()(double d) const { statement.bind(parameter, d); }
  void operator()(const std::string& s) const { statement.bind(parameter, s); }
  void operator()(const std::vector<std::byte>& b) const {
    // A null pointer would make it NULL.
    const void* bytes = b.empty() ? static_cast<const void*>("") : b.data();
    statement.bind(parameter, bytes, static_cast<int>(b.size()));
  }

  SQLite::Statement& statement;
  int parameter;
};

/// The default of the column in a row of pragma_table_info. Anything but a number is not evaluated:
/// it could be an expression, and this is somebody's file.
column_value default_from(SQLite::Statement& info) {
  if (info.getColumn(2).getInt() == 0) return {};
  if (info.getColumn(3).getString() == "INTEGER") {
    const std::string text = info.getColumn(4).getString();
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  if (info.getColumn(3).getString() == "TEXT") return std::string();
  return {};
}

}  // namespace

bound_column bind_column(std::string name, column_value v) {
  return {std::move(name), [v = std::move(v)](SQLite::Statement& statement, int parameter) {
            std::visit(binder{statement, parameter}, v);
          }};
}

bound_column bind_column(std::string name, const value& v, bool in_key) {
  return {std::move(name), [v, in_key](SQLite::Statement& statement, int parameter) {
            if (in_key) {
              bind_key_value(statement, parameter, v);
            } else {
              bind_value(statement, parameter, v);
            }
          }};
}

column_value read_column(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return column.getString();
  if (!column.isBlob()) return {};
  const auto* bytes = static_cast<const std::byte*>(column.getBlob());
  return std::vector<std::byte>(bytes, bytes + column.getBytes());
}

raw_table::raw_table(connection& source, std::string name)
    : source_(&source), layout_{std::move(name)} {
  SQLite::Statement info(source.database(),
                         "SELECT name, pk, \"notnull\", type, dflt_value "
                         "FROM pragma_table_info(?) ORDER BY cid");
  info.bind(1, layout_.table);
  std::map<int, std::string> key;
  while (info.executeStep()) {
    const std::string column = info.getColumn(0).getString();
    if (column != checksum) layout_.columns.push_back(column);
    defaults_[column] = default_from(info);
    if (info.getColumn(1).getInt() > 0) key[info.getColumn(1).getInt()] = column;
  }
  if (layout_.columns.empty()) {
    throw SQLite::Exception("no such table: " + layout_.table, SQLITE_ERROR);
  }
  for (auto& [place, column] : key) key_.push_back(std::move(column));
}

raw_table::~raw_table() = default;
raw_table::raw_table(raw_table&&) noexcept = default;

bool raw_table::has(const std::string& column) const {
  return std::ranges::find(columns(), column) != columns().end();
}

std::size_t raw_table::read(const std::vector<bound_column>& where,
                            const std::function<void(SQLite::Statement&)>& visit) {
  std::string sql = layout_.select();
  for (const bound_column& column : where) {
    sql += (&column == where.data() ? " WHERE " : " AND ") + quoted_name(column.name) + " = ?";
  }
  sql += " ORDER BY " + quoted_names(key_);
  if (sql != read_sql_) {
    read_ = std::make_unique<SQLite::Statement>(source_->database(), sql);
    read_sql_ = std::move(sql);
  }
  const statement_run run(*read_);
  int parameter = 1;
  for (const bound_column& column : where) column.bind(*read_, parameter++);
  std::size_t damaged = 0;
  while (read_->executeStep()) {
    if (read_->getColumn(static_cast<int>(columns().size())).getInt() == 0) {
      ++damaged;
    } else {
      visit(*read_);
    }
  }
  return damaged;
}

void raw_table::prepare_write(bool replace) {
  if (write_ && replaces_ == replace) return;
  write_ = std::make_unique<SQLite::Statement>(
      source_->database(), layout_.insert(replace ? "INSERT OR REPLACE" : "INSERT"));
  replaces_ = replace;
}

void raw_table::write(const std::vector<bound_column>& row, bool replace) {
  prepare_write(replace);
  const statement_run run(*write_);
  int number = 1;
  for (const std::string& column : columns()) {
    bind_column(column, defaults_.at(column)).bind(*write_, number++);
  }
  for (const bound_column& column : row) {
    const auto found = std::ranges::find(columns(), column.name);
    if (found == columns().end()) {
      throw argument_error(
          fmt::format("the table '{}' of the database has no column '{}'; use a newer tunedb",
                      name(), column.name));
    }
    column.bind(*write_, static_cast<int>(found - columns().begin()) + 1);
  }
  write_->exec();
}

std::size_t raw_table::count() {
  SQLite::Statement all(source_->database(), "SELECT count(*) FROM " + quoted_name(name()));
  all.executeStep();
  return static_cast<std::size_t>(all.getColumn(0).getInt64());
}

}  // namespace tune::detail
