// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The tables that every database has, and the marks by which a file says that it is a tuning
// database, and of which version.
#pragma once

#include <cstdint>
#include <string>

#include "libtune/store/database/database_failure.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// Marks a file as a tuning database: "ltun". Never changes.
inline constexpr std::int32_t application_id = 0x6c74756e;
/// The version of the tables that every database has.
inline constexpr std::int32_t schema_version = 1;

/// The time of a statement, as columns hold it: 2024-01-31T12:00:00Z.
inline constexpr const char* current_time_sql = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

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
