// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Writes one state of a database to another file, in place of what that is, also while others
/// write. A copy of the file itself could hold half a transaction, so SQLite makes it.
/// @throws argument_error if the other file is the database, belongs to it, has a journal or is no
///         regular file; database_error if there is no database or it cannot be read; error if the
///         other file cannot be written
void back_up_database(const std::string& path, const std::string& to);

}  // namespace tune
