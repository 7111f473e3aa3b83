// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// How a file says that it is a tuning database, and of which version.
#pragma once

#include <cstdint>
#include <string>

#include "libtune/store/database/database_failure.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// The version of the tables; 0 for a new file. Throws SQLite::Exception for what SQLite reports.
/// @param path  for the text of the error
/// @throws database_error if the file is not of libtune, or if this libtune cannot read it
std::int32_t read_marks(SQLite::Database& database, const std::string& path);

/// The error for tables of a newer version.
database_fault newer_tables(const std::string& path, const std::string& attempt,
                            std::int32_t version);

/// Makes the tables of a new database and marks the file as one. Inside the caller's transaction,
/// so that others see all of it or nothing. Throws SQLite::Exception for what SQLite reports.
void create_fixed_tables(SQLite::Database& database);

}  // namespace tune::detail
