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

/// A row of katsdpsigproc without the types of its columns: integers, floating numbers and text, by
/// the names "arg_dtype" and "value_wgs". What numpy stored as bytes is an integer again, and the
/// text of a numpy type the type's name.
using katsdpsigproc_row = std::map<std::string, value>;

/// The counterpart of a row. Fields that the function does not have are passed over.
struct counterpart {
  /// The values that each field of the key may have: a key for every combination.
  std::map<std::string, std::vector<value>> key{};
  /// The values of the tuning; all others are those of the test default.
  std::map<std::string, value> tuning{};
};

/// The rule by which results of a function of katsdpsigproc become priors of one here, whose kernel
/// is another.
struct katsdpsigproc_translation {
  std::string table{};     ///< the name there, without the version: "katsdpsigproc_fill_..."
  int version = 0;         ///< there; rows of others have other fields
  std::string function{};  ///< the name here
  /// Returns the counterpart of a row. @throws argument_error with the reason if it has none
  std::function<counterpart(const katsdpsigproc_row&)> translate{};
};

/// A function here, as far as a translation needs it.
struct translation_target {
  function_identity function{};
  std::vector<named_value> test_default{};
};

/// The value of a column of a row, a whole number.
/// @throws argument_error if there is no such column, or it holds something else
std::int64_t integer_of(const katsdpsigproc_row& row, const std::string& column);
/// The same for text.
std::string text_of(const katsdpsigproc_row& row, const std::string& column);
/// The same for what Python stored of a bool: 0 or 1.
bool truth_of(const katsdpsigproc_row& row, const std::string& column);

/// Returns a row as a translation wants it.
katsdpsigproc_row plain_row(const column_values& columns);

/// Returns the priors of a row: results for each key, whose device has prior_api. Others of its
/// columns are those given.
/// @throws argument_error with the reason if the row has no counterpart, or a field of the key has
///         none
std::vector<result_content> translate_row(const katsdpsigproc_translation& rule,
                                          const translation_target& target,
                                          const katsdpsigproc_row& row,
                                          const column_values& columns);

}  // namespace tune
