// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The database as a file. Only SQLite opens it: closing it again would drop the locks that SQLite
// holds on it elsewhere in the process.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libtune/store/files/file_lock.hpp"

namespace tune::detail {

/// Returns the absolute form of a path, which SQLite takes for the path of a file, never for a URI
/// or a database in memory. @throws argument_error if the path cannot name a file
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

/// Keeps a database's file in its place during writes: all writers share the lock, and the one that
/// moves a damaged file aside has it alone. A journal is found by the name of its database, so one
/// that is written while its database moves would be taken for that of the next.
///
/// It is the lock of an empty file beside the database that is never removed. Where it cannot be
/// made, or the file system has no locks, nobody is kept out.
class [[nodiscard]] database_lock {
 public:
  /// Appended to the database's path.
  static constexpr const char* suffix = "-lock";

  /// Waits for others. @param wait  at most
  database_lock(const std::string& path, lock_kind kind, std::chrono::milliseconds wait);

  /// False if others still had the lock in the end.
  explicit operator bool() const noexcept { return held_; }

 private:
  file_lock lock_;
  bool held_;
};

/// Moves a damaged tuning database aside, so that a new one can be made in its place: itself and
/// its journals, to "<path>.damaged-<time>-<process>". Alone with the file while it looks and
/// moves; no connection of the caller may be open.
/// @param wait  the longest time to wait for others
/// @returns the new path; nothing if the file is sound, is of another application, is gone, or
///          could not be moved, in which case it stays as it is
std::optional<std::string> set_aside_if_damaged(const std::string& path,
                                                std::chrono::milliseconds wait);

}  // namespace tune::detail
