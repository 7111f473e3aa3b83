// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/column.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <sqlite3.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/field_check.hpp"

namespace tune::detail {
namespace {

constexpr std::string_view negative_zero = "-0.0";
constexpr std::string_view not_a_number = "nan";
constexpr std::uint64_t most_integer = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void throw_unreadable(const SQLite::Column& column, std::string_view expected) {
  throw SQLite::Exception(
      fmt::format("column {} holds '{}', which is no {}", column.getName(),
                  column.isBlob() ? "binary data" : column.getString(), expected),
      SQLITE_MISMATCH);
}

struct binder {
  void operator()(std::monostate) const { statement.bind(parameter); }
  void operator()(bool b) const { statement.bind(parameter, b ? 1 : 0); }
  void operator()(std::int64_t i) const { statement.bind(parameter, i); }
  void operator()(std::uint64_t i) const {
    if (i <= most_integer) {
      statement.bind(parameter, static_cast<std::int64_t>(i));
    } else {
      statement.bind(parameter, std::to_string(i));
    }
  }
  void operator()(double d) const {
    if (std::isnan(d)) {
      statement.bind(parameter, std::string(not_a_number));
    } else if (d == 0 && std::signbit(d)) {
      statement.bind(parameter, std::string(negative_zero));
    } else {
      statement.bind(parameter, d);
    }
  }
  void operator()(const std::string& s) const { statement.bind(parameter, s); }

  SQLite::Statement& statement;
  int parameter;
};

value read_boolean(const SQLite::Column& column) {
  const std::int64_t i = column.isInteger() ? column.getInt64() : -1;
  if (i != 0 && i != 1) throw_unreadable(column, "bool");
  return i == 1;
}

value read_unsigned(const SQLite::Column& column) {
  if (column.isInteger() && column.getInt64() >= 0) {
    return static_cast<std::uint64_t>(column.getInt64());
  }
  std::uint64_t number = 0;
  if (column.isText()) {
    const std::string text = column.getString();
    const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    // Only what bind_value writes: one number has one form.
    if (failure != std::errc{} || number <= most_integer || std::to_string(number) != text) {
      number = 0;
    }
  }
  if (number == 0) throw_unreadable(column, "unsigned integer");
  return number;
}

value read_real(const SQLite::Column& column) {
  if (column.isFloat()) return column.getDouble();
  const std::string text = column.isText() ? column.getString() : std::string();
  if (text == negative_zero) return -0.0;
  if (text != not_a_number) throw_unreadable(column, "floating number");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string_view column_type(const field_description& field, bool in_key) noexcept {
  if (in_key && field.optional) return "ANY";
  if (field.type == value_type::uint64) return "ANY";
  switch (kind_of(field.type)) {
    case value_kind::real: return "ANY";
    case value_kind::string: return "TEXT";
    default: return "INTEGER";
  }
}

void bind_value(SQLite::Statement& statement, int parameter, const value& v) {
  std::visit(binder{statement, parameter}, v);
}

void bind_key_value(SQLite::Statement& statement, int parameter, const value& v) {
  if (std::holds_alternative<std::monostate>(v)) {
    statement.bind(parameter, "", 0);
  } else {
    bind_value(statement, parameter, v);
  }
}

value read_value(const SQLite::Column& column, value_kind kind) {
  if (column.isNull() || (column.isBlob() && column.getBytes() == 0)) return {};
  switch (kind) {
    case value_kind::none: break;
    case value_kind::boolean: return read_boolean(column);
    case value_kind::signed_integer:
      if (column.isInteger()) return column.getInt64();
      break;
    case value_kind::unsigned_integer: return read_unsigned(column);
    case value_kind::real: return read_real(column);
    case value_kind::string:
      if (column.isText()) return column.getString();
      break;
  }
  throw_unreadable(column, kind_name(kind));
}

value read_field(const SQLite::Column& column, const field_description& field) {
  value v = read_value(column, kind_of(field.type));
  try {
    check_type(field, v);
  } catch (const type_error& mismatch) {
    throw SQLite::Exception(fmt::format("column {}: {}", column.getName(), mismatch.what()),
                            SQLITE_MISMATCH);
  }
  return v;
}

}  // namespace tune::detail
