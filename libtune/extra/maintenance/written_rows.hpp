// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Conversion of database_content to rows of an open database. Errors of SQLite are
// SQLite::Exceptions.
#pragma once

#include <functional>
#include <string>

#include "libtune/extra/maintenance/content_rows.hpp"

namespace tune::detail {

/// Runs change(connection) in one write_transaction on a database and commits it if the result is
/// true. Does nothing if there is no database. @param attempt  for the error's text
/// @throws database_error
void change_database(const std::string& path, const std::string& attempt,
                     const std::function<bool(connection&)>& change);

/// Stores a result, replacing one with the same key, inside the caller's write_transaction.
void write_result(raw_table& results, const result_content& result);

/// Adds a search, with its trials, under an unused number, in the same way.
void write_search(connection& target, search_tables& tables, const function_identity& function,
                  const search_content& search);

}  // namespace tune::detail
