// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {

class connection;

/// The trials of a function, device and compiler that ended with an outcome because of the last
/// program that they compiled: one for each such program, whatever the key; and, where no program
/// was noted, one for each configuration of the same key, space and stage. The latest trial with a
/// program decides: one that came further shows that the program is good after all.
/// Throws SQLite::Exception for what SQLite reports.
std::vector<stored_trial> read_failed_trials(connection& source, const function_identity& function,
                                             const record_key& key, const search_identity& identity,
                                             const std::string& outcome);

}  // namespace tune::detail
