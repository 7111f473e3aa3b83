// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune::detail {

/// Whether LIBTUNE_DB_ACCESS lets a group write the database. @throws environment_error
bool shares_database();

/// Checks that nobody but this user and the superuser can change a database: file and folder belong
/// to one of them and give no group and nobody else the right to write, and the file is a regular
/// one with one name. The folder is that at the end of all links. With LIBTUNE_DB_ACCESS=shared a
/// group may write and anybody may own. What does not exist yet is fine.
/// @throws database_error that says what to change
void require_trust(const std::string& path);

}  // namespace tune::detail
