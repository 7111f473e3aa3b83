// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// Makes the tables of a new database and marks the file as one. Inside the caller's transaction,
/// so that others see all of it or nothing. Throws SQLite::Exception for what SQLite reports.
void create_fixed_tables(SQLite::Database& database);

/// Brings the tables of an older version, one or more, to schema_version and keeps every row.
/// Inside the caller's transaction.
void migrate_tables(SQLite::Database& database, std::int32_t version);

/// Whether tables of a newer version can still be read by this libtune, as they say themselves.
bool can_read_newer(SQLite::Database& database);

}  // namespace tune::detail
