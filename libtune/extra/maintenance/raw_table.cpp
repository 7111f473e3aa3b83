// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/raw_table.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sqlite3.h>
#include <string_view>
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
    // A null pointer would store NULL.
    const void* bytes = b.empty() ? static_cast<const void*>("") : b.data();
    statement.bind(parameter, bytes, static_cast<int>(b.size()));
  }

  SQLite::Statement& statement;
  int parameter;
};

/// Returns the default of the column in a row of pragma_table_info. Only numbers are evaluated:
/// other defaults could be expressions from an untrusted file.
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

// While a row is read and a writer waits, SQLite blocks new readers: lookups wait for this long.
constexpr std::chrono::milliseconds longest_hold{1};

/// Returns "WHERE" with the values of these columns, for rows whose key is after the last one.
std::string part_sql(const std::vector<bound_column>& where, const std::vector<bound_column>& last,
                     const std::vector<std::string>& key) {
  std::vector<std::string> all;
  all.reserve(where.size() + 1);
  for (const bound_column& column : where) all.push_back(quoted_name(column.name) + " = ?");
  // With an index on this column alone, SQLite would find and sort all rows before returning the
  // first.
  const bool is_in_key = !where.empty() && std::ranges::find(key, where.front().name) != key.end();
  if (where.size() == 1 && !is_in_key) all.front().insert(0, "+");
  if (!last.empty()) {
    std::vector<std::string> names;
    names.reserve(last.size());
    for (const bound_column& column : last) names.push_back(column.name);
    const std::vector<std::string> places(last.size(), "?");
    all.push_back(fmt::format("({}) > ({})", quoted_names(names), fmt::join(places, ", ")));
  }
  return all.empty() ? "" : fmt::format(" WHERE {}", fmt::join(all, " AND "));
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
    types_[column] = info.getColumn(3).getString();
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
                            const std::function<void(SQLite::Statement&)>& visit,
                            const std::function<void()>& pause) {
  std::size_t damaged = 0;
  const auto visit_intact = [&](SQLite::Statement& row) {
    if (row.getColumn(static_cast<int>(columns().size())).getInt() == 0) {
      ++damaged;
    } else {
      visit(row);
    }
  };
  visit_rows(layout_.select(), where, visit_intact, pause);
  return damaged;
}

bool raw_table::read_first(const std::vector<bound_column>& where,
                           const std::function<void(SQLite::Statement&)>& visit) {
  std::string sql = layout_.select() + " WHERE " + layout_.intact();
  for (const bound_column& column : where) sql += " AND " + quoted_name(column.name) + " = ?";
  SQLite::Statement first(source_->database(), sql + " LIMIT 1");
  int parameter = 1;
  for (const bound_column& column : where) column.bind(first, parameter++);
  if (!first.executeStep()) return false;
  visit(first);
  return true;
}

void raw_table::scan(const std::vector<std::string>& some, const std::vector<bound_column>& where,
                     const std::function<void(SQLite::Statement&)>& visit) {
  std::vector<std::string> selected = some;
  for (const std::string& column : key_) {
    if (std::ranges::find(some, column) == some.end()) selected.push_back(column);
  }
  visit_rows(fmt::format("SELECT {} FROM {}", quoted_names(selected), quoted_name(name())), where,
             visit);
}

void raw_table::visit_rows(const std::string& select, const std::vector<bound_column>& where,
                           const std::function<void(SQLite::Statement&)>& visit,
                           const std::function<void()>& pause) {
  std::vector<bound_column> last;
  while (visit_some(select, where, last, visit)) {
    if (pause) pause();
  }
  if (pause) pause();
}

// Continues after the last visited row, if any, and updates it.
// @returns true if rows may be left
bool raw_table::visit_some(const std::string& select, const std::vector<bound_column>& where,
                           std::vector<bound_column>& last,
                           const std::function<void(SQLite::Statement&)>& visit) {
  std::string sql = select + part_sql(where, last, key_) + " ORDER BY " + quoted_names(key_);
  if (sql != read_sql_) {
    read_ = std::make_unique<SQLite::Statement>(source_->database(), sql);
    read_sql_ = std::move(sql);
  }
  const statement_run run(*read_);
  int parameter = 1;
  for (const bound_column& column : where) column.bind(*read_, parameter++);
  for (const bound_column& column : last) column.bind(*read_, parameter++);
  const bool can_pause = sqlite3_get_autocommit(source_->database().getHandle()) != 0;
  const auto end = std::chrono::steady_clock::now() + longest_hold;
  while (read_->executeStep()) {
    visit(*read_);
    if (!can_pause || std::chrono::steady_clock::now() < end) continue;
    last.clear();
    for (const std::string& column : key_) {
      if (std::ranges::find(where, column, &bound_column::name) != where.end()) continue;
      last.push_back(bind_column(column, read_column(read_->getColumn(column.c_str()))));
    }
    return !last.empty();
  }
  return false;
}

bound_column raw_table::bind(const std::string& column, const column_value& v) const {
  const auto known = types_.find(column);
  const std::string_view type = known == types_.end() ? "" : std::string_view(known->second);
  const auto* number = std::get_if<std::int64_t>(&v);
  // Programs that rewrite JSON write 5.0 as 5.
  if (type == "REAL" && number != nullptr) return bind_column(column, static_cast<double>(*number));
  const bool fits = std::holds_alternative<std::monostate>(v) ||
                    (type == "REAL"      ? std::holds_alternative<double>(v)
                     : type == "INTEGER" ? number != nullptr
                     : type == "TEXT"    ? std::holds_alternative<std::string>(v)
                                         : true);
  if (fits) return bind_column(column, v);
  throw argument_error(
      fmt::format("the column '{}' of the table '{}' only holds {}", column, name(), type));
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
  for (const bound_column& column : row) {
    if (has(column.name)) continue;
    throw argument_error(
        fmt::format("the table '{}' of the database has no column '{}'; use a newer tunedb", name(),
                    column.name));
  }
  int number = 1;
  for (const std::string& column : columns()) {
    const auto given = std::ranges::find(row, column, &bound_column::name);
    if (given != row.end()) {
      given->bind(*write_, number);
    } else {
      std::visit(binder{*write_, number}, defaults_.at(column));
    }
    ++number;
  }
  write_->exec();
}

std::size_t raw_table::count() {
  SQLite::Statement all(source_->database(), "SELECT count(*) FROM " + quoted_name(name()));
  all.executeStep();
  return static_cast<std::size_t>(all.getColumn(0).getInt64());
}

}  // namespace tune::detail
