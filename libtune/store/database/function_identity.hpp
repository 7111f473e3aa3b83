// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/value.hpp"

namespace tune {

/// Which autotune function a result belongs to, and what its results look like.
struct function_identity {
  /// Starts with a letter or _, holds letters, digits, _ and ., at most 200 characters; not
  /// sqlite_... or libtune_..., which name the database's own tables.
  std::string name{};
  int version = 0;  ///< not negative; raised when the fields or their meaning change
  std::vector<field_description> key_fields{};    ///< of the key, the arg_* columns
  std::vector<field_description> value_fields{};  ///< of the tuning, the value_* columns

  friend bool operator==(const function_identity&, const function_identity&) = default;
};

/// Between the name of an autotune function and the goal that its results are for, in the name
/// under which these are stored; that of the least time has neither. To a libtune that knows no
/// goals they are results of another function, which it never uses for this one.
inline constexpr std::string_view goal_mark = "..";

/// The function's own name, without the goal.
std::string own_name(std::string_view stored);

/// The name of the function's table, "<name>__<version>". Two functions or versions never share
/// one, unless their names differ only in case, which a lookup reports.
/// @throws argument_error if the name or the version is not as said above
std::string table_name(const function_identity& function);

/// Checks the names of the fields: identifiers, in each list unique even without regard to case
/// because the columns of a table are. @throws argument_error that names the field
void check_field_names(const function_identity& function);

/// Both checks, so that no result is ever found that could not be stored.
void check_function_names(const function_identity& function);

/// The key or tuning of an autotune function has changed since its table was made, and its version
/// has not. The text names the columns.
class schema_drift_error : public database_error {
 public:
  using database_error::database_error;
};

}  // namespace tune
