// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// True if LIBTUNE_DB_ACCESS lets a group write the database. @throws environment_error
bool shares_database();

/// Checks that nobody but this user and the superuser can change a database: file and folder belong
/// to one of them and give no group and nobody else the right to write, and the file is a regular
/// one with one name. The folder is that at the end of all links. With LIBTUNE_DB_ACCESS=shared a
/// group may write and anybody may own. Missing ones are fine.
/// A sticky folder such as /tmp is one that everybody can write: files in it would be safe, but
/// not the journal that SQLite looks for beside it.
/// @throws database_error that says what to change
void require_trust(const std::string& path);

/// Checks that only the superuser or this user can have put a system database there: the
/// file at the end of all links belongs to the superuser or this user and may not be written by
/// everybody, and the same holds for its folder and for that of the link which leads to it. A
/// folder for everybody, in which nobody can replace what is another's (the sticky bit), is fine;
/// so is a group that may write, because the owner has chosen it. With
/// LIBTUNE_DB_ACCESS=shared anybody may own them. A missing file is reported when it is opened.
/// @throws database_error that says what to change
void require_system_trust(const std::string& path);

}  // namespace tune::detail
