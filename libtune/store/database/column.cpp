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

namespace tune::detail {
namespace {

template <class Integer>
void check_signed(const value& v, value_type type) {
  signed_from(v, type, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max());
}

template <class Integer>
void check_unsigned(const value& v, value_type type) {
  unsigned_from(v, type, std::numeric_limits<Integer>::max());
}

void check_alternative(value_type type, const value& v) {
  switch (type) {
    case value_type::boolean: boolean_from(v); return;
    case value_type::int8: return check_signed<std::int8_t>(v, type);
    case value_type::uint8: return check_unsigned<std::uint8_t>(v, type);
    case value_type::int16: return check_signed<std::int16_t>(v, type);
    case value_type::uint16: return check_unsigned<std::uint16_t>(v, type);
    case value_type::int32: return check_signed<std::int32_t>(v, type);
    case value_type::uint32: return check_unsigned<std::uint32_t>(v, type);
    case value_type::int64: return check_signed<std::int64_t>(v, type);
    case value_type::uint64: return check_unsigned<std::uint64_t>(v, type);
    case value_type::float32:
    case value_type::float64: real_from(v, type); return;
    case value_type::string:
    case value_type::enumeration:
    case value_type::element_type: string_from(v, type); return;
  }
}

}  // namespace

void check_type(const field_description& field, const value& v) {
  if (field.optional && std::holds_alternative<std::monostate>(v)) return;
  try {
    check_alternative(field.type, v);
  } catch (const type_error& mismatch) {
    throw type_error(fmt::format("field '{}': {}", field.name, mismatch.what()));
  }
}

void check_fields(const std::vector<field_description>& fields,
                  const std::vector<named_value>& values, const std::string& whose) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i >= values.size() || values[i].name != fields[i].name) {
      throw argument_error(fmt::format("'{}' expects a value for the field '{}' and got {}", whose,
                                       fields[i].name,
                                       i < values.size() ? "'" + values[i].name + "'" : "none"));
    }
    check_type(fields[i], values[i].value);
  }
  if (values.size() > fields.size()) {
    throw argument_error(fmt::format("'{}' has no field '{}'", whose, values[fields.size()].name));
  }
}

void check_key(const std::vector<field_description>& fields, const std::vector<named_value>& values,
               const std::string& whose) {
  check_fields(fields, values, whose);
  for (const named_value& item : values) {
    const double* number = std::get_if<double>(&item.value);
    if (number != nullptr && std::isnan(*number)) {
      throw argument_error(fmt::format(
          "the field '{}' of a key of '{}' is NaN, which equals nothing and so is never found "
          "again; give it a number, or leave it empty if it is optional",
          item.name, whose));
    }
  }
}

void check_score(double score_ns) {
  if (!std::isfinite(score_ns) || score_ns <= 0) {
    throw argument_error(
        fmt::format("{} ns is not a time that was measured; nothing was stored", score_ns));
  }
}

namespace {

constexpr std::string_view negative_zero = "-0.0";
constexpr std::string_view not_a_number = "nan";
constexpr std::uint64_t most_integer = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void throw_unreadable(const SQLite::Column& column, std::string_view expected) {
  throw SQLite::Exception(
      fmt::format("column {} holds '{}', which is not a valid {}", column.getName(),
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
    // Accepts only the form that bind_value writes: each number has one form.
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
