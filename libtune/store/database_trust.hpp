// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/store/file_descriptor.hpp"

namespace tune::detail {

/// Whether LIBTUNE_DB_ACCESS lets a group write the database. @throws environment_error
bool shares_database();

/// Checks that nobody but this user and the superuser can change a database: file and folder belong
/// to one of them and give no group and nobody else the right to write, and the file is a regular
/// one with one name. The folder is that at the end of all links. With LIBTUNE_DB_ACCESS=shared a
/// group may write and anybody may own. What does not exist yet is fine.
/// A sticky folder such as /tmp is one that everybody can write: what is in it would be safe, but
/// not the journal that SQLite looks for beside it.
/// @throws database_error that says what to change
void require_trust(const std::string& path);

/// The folder of a path, at the end of all links, for looking at files in it by their names; empty
/// if it cannot be reached.
file_descriptor open_folder_of(const std::string& path) noexcept;
/// The same as above for a folder that is open, whatever has its path meanwhile.
void require_trust(const file_descriptor& folder, const std::string& path);

}  // namespace tune::detail
