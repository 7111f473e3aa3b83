// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The form of a trial in a row of libtune_trial.
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/row.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace SQLite {
class Statement;
}

namespace tune::detail {

/// The exact JSON of a configuration: an object of its fields in their order. Booleans, signed
/// integers, finite numbers and text are the JSON value, none is null. The others are objects of
/// one member: {"unsigned": 64}, {"real": "nan"} ("inf", "-inf"), and {"text": "ff00"} for bytes
/// that are no UTF-8, as hexadecimal digits.
std::string configuration_to_json(const std::vector<named_value>& configuration);
/// The inverse. @throws SQLite::Exception (SQLITE_MISMATCH) for any other text
std::vector<named_value> configuration_from_json(const std::string& text);

/// The columns of libtune_trial: its search, its position, then the parts of a trial.
const row_layout& trial_layout();

/// Inserts a trial, in place of the one at the same position. Parameters: search, position, then
/// those that bind_trial() binds.
std::string insert_trial_sql();
void bind_trial(SQLite::Statement& insert, const stored_trial& trial);

/// The trial in a row that trial_layout() selected, without a look at its checksum.
/// @throws SQLite::Exception (SQLITE_MISMATCH) for values that are none of a trial
stored_trial read_trial_row(SQLite::Statement& selected);

}  // namespace tune::detail
