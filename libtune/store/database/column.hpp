// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The form of a value in a column: readable, and convertible back exactly. Values that SQLite would
// lose or confuse are stored as text:
//
//   value                        in SQLite
//   bool                         INTEGER 0 or 1
//   integer                      INTEGER; above 2^63 - 1, TEXT in decimal
//   float, double                REAL; -0.0 and NaN as the TEXT "-0.0" and "nan"
//   string, enumeration, dtype   TEXT with the same bytes
//   empty optional               NULL; in a key, an empty BLOB, because NULL equals nothing
//
// Databases use these forms: a change needs a new version of the file format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/json.hpp"
#include "libtune/base/value.hpp"

namespace SQLite {
class Column;
class Statement;
}  // namespace SQLite

namespace tune::detail {

/// @throws type_error that names the field if the value is not of its type or does not fit
void check_type(const field_description& field, const value& v);

/// Checks that there is one value for each field, in order and of its type.
/// @param whose  the autotune function, for the text
/// @throws argument_error
void check_fields(const std::vector<field_description>& fields,
                  const std::vector<named_value>& values, const std::string& whose);

/// Checks a key likewise, and also that it contains no NaN.
void check_key(const std::vector<field_description>& fields, const std::vector<named_value>& values,
               const std::string& whose);

/// Checks a score or sample: finite and above zero. @throws argument_error
void check_score(double score_ns);

/// The type of a field's column in a STRICT table.
std::string_view column_type(const field_description& field, bool in_key) noexcept;

/// Binds a value to the parameter with this number, counted from one.
void bind_value(SQLite::Statement& statement, int parameter, const value& v);
void bind_key_value(SQLite::Statement& statement, int parameter, const value& v);

/// Returns the value of this kind in a column, or an empty one.
/// @throws SQLite::Exception (SQLITE_MISMATCH) if the column has another kind
value read_value(const SQLite::Column& column, value_kind kind);

/// Returns the field's value in a column. @throws SQLite::Exception (SQLITE_MISMATCH)
value read_field(const SQLite::Column& column, const field_description& field);

}  // namespace tune::detail
