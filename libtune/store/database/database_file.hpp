// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The database as a file, before SQLite sees it. Nothing here opens the file: closing it again
// would drop the locks that SQLite holds on it elsewhere in the process.
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The absolute form of a path. SQLite takes such a path for a file, never for a URI or a database
/// in memory. @throws argument_error if the path cannot name a file
std::string absolute_path(const std::string& path);

/// True if anything has this path, a dangling symbolic link included.
bool is_there(const std::string& path);

/// The same file with no symbolic link on the way to it; the file itself may still be one.
/// @throws database_error if the folder cannot be reached
std::string without_links_on_the_way(const std::string& path);

/// Opening anything else, such as a pipe, for reading alone could wait for ever.
/// @throws database_error unless the path leads to a regular file
void require_regular_file(const std::string& path);

/// The URI by which SQLite reads a file that nobody changes: without locks, and without a look at
/// journals. Follows symbolic links, also of the file itself, as those of a package do.
/// @throws database_error if there is no such file
std::string immutable_uri(const std::string& path);

/// Makes the folders on the way, readable by their owner only, and an empty file for the owner to
/// read and write. Existing ones stay as they are. @throws database_error
void create_private_file(const std::string& path);

/// True if a path is that of a database or of a file beside it that belongs to it: its journals,
/// its locks, the keys that were missed; by name, through links, or as another name of the same
/// file. Writing there would destroy results.
bool belongs_to_database(const std::string& path, const std::string& database);

}  // namespace tune::detail
