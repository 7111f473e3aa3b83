// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/value.hpp"

namespace tune {

/// The autotune function of a result, and the fields of its results.
struct function_identity {
  /// At most 200 letters, digits, _ and ., starting with a letter or _. Not sqlite_... or
  /// libtune_..., which are the database's own tables.
  std::string name{};
  int version = 0;  ///< not negative; raised when the fields or their meaning change
  std::vector<field_description> key_fields{};    ///< of the key, the arg_* columns
  std::vector<field_description> value_fields{};  ///< of the tuning, the value_* columns

  friend bool operator==(const function_identity&, const function_identity&) = default;
};

/// The mark between the name of an autotune function and a goal other than the least time, in the
/// name under which results are stored. For versions of libtune without goals, these are results of
/// another function, which they never use.
inline constexpr std::string_view goal_mark = "..";

/// Returns the function's own name, without the goal.
std::string own_name(std::string_view stored);

/// Returns the name of the function's table, "<name>__<version>". Different functions or versions
/// have different tables, unless their names differ only in case, which a lookup reports.
/// @throws argument_error if the name or the version is invalid (function_identity)
std::string table_name(const function_identity& function);

/// Checks the names of the fields: identifiers, unique in each list even when case is ignored,
/// because column names ignore it. @throws argument_error that names the field
void check_field_names(const function_identity& function);

/// Checks all names. A lookup calls it, too, so that it rejects what cannot be stored.
void check_function_names(const function_identity& function);

/// The key or tuning of an autotune function has changed since its table was made, but its version
/// has not. The text names the columns.
class schema_drift_error : public database_error {
 public:
  using database_error::database_error;
};

}  // namespace tune
