// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// Gives a table of version 1 room for the whole identity of a device; of what it has, all but
/// name, platform and driver is unknown. Function tables get the columns, as a part of their key,
/// libtune_search the canonical text; other tables stay as they are. Inside the caller's
/// transaction. Throws SQLite::Exception for what SQLite reports.
void add_device_identity(SQLite::Database& database, const std::string& table);

}  // namespace tune::detail
