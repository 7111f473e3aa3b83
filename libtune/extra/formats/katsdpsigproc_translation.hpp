// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/function_identity.hpp"

namespace tune {

/// A row of katsdpsigproc without the types of its columns: integers, floating-point numbers and
/// text, by names such as "arg_dtype" and "value_wgs". Numbers that numpy stored as bytes are
/// integers again, and the text of a numpy type is the type's name.
using katsdpsigproc_row = std::map<std::string, value>;

/// The counterpart of a row. Fields that the function does not have are ignored.
struct counterpart {
  /// The possible values of each key field: every combination is a key.
  std::map<std::string, std::vector<value>> key{};
  /// The values of the tuning; missing values are taken from the test default.
  std::map<std::string, value> tuning{};
};

/// The rule that converts results of a function of katsdpsigproc to priors of a function here, with
/// a different kernel.
struct katsdpsigproc_translation {
  std::string table{};     ///< the name there, without the version: "katsdpsigproc_fill_..."
  int version = 0;         ///< the version there; rows of other versions have other fields
  std::string function{};  ///< the name here
  /// Returns the counterpart of a row. @throws argument_error with the reason if it has none
  std::function<counterpart(const katsdpsigproc_row&)> translate{};
};

/// A function here, with the properties that a translation needs.
struct translation_target {
  function_identity function{};
  std::vector<named_value> test_default{};
};

/// The value of a column of a row, a whole number.
/// @throws argument_error for a missing column, or another type
std::int64_t integer_of(const katsdpsigproc_row& row, const std::string& column);
/// The value of a text column.
std::string text_of(const katsdpsigproc_row& row, const std::string& column);
/// The value of a bool column, which Python stored as 0 or 1.
bool truth_of(const katsdpsigproc_row& row, const std::string& column);

/// Returns a row in the form for a translation.
katsdpsigproc_row plain_row(const column_values& columns);

/// Returns the priors of a row: one result for each key, whose device has prior_api. `others` are
/// its other columns.
/// @throws argument_error with the reason if the row, or a field of the key, has no counterpart
std::vector<result_content> translate_row(const katsdpsigproc_translation& rule,
                                          const translation_target& target,
                                          const katsdpsigproc_row& row,
                                          const column_values& columns);

}  // namespace tune
