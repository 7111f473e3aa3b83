// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/row.hpp"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <span>
#include <sqlite3.h>

#include "libtune/base/log.hpp"
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
    case SQLITE_FLOAT: fmt::format_to(out, "f{:a};", sqlite3_value_double(v)); break;
    case SQLITE_TEXT: {
      const unsigned char* bytes = sqlite3_value_text(v);  // before its length is asked for
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
    expression = "libtune_checksum(" + expression + ")";
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
                  "wrong; it counts as missing, and the next result takes its place",
                  path, table));
}

}  // namespace tune::detail
