// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// True if the header of an open file, read past all checks of SQLite, says that it is a tuning
/// database. A header that was damaged there, or a file too short to have one, says no.
bool has_own_mark(SQLite::Database& database);

/// Moves a damaged tuning database aside, so that a new one can be made in its place: itself and
/// its journals, to "<path>.damaged-<time>-<process>". Alone with the file while it looks and
/// moves; no connection of the caller may be open.
/// @param wait  the longest time to wait for others
/// @returns the new path; nothing if the file is sound, is of another application, is gone, or
///          could not be moved, in which case it stays as it is
std::optional<std::string> set_aside_if_damaged(const std::string& path,
                                                std::chrono::milliseconds wait);

}  // namespace tune::detail
