// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The database as a file. Only SQLite opens it: closing it again would drop the locks that SQLite
// holds on it elsewhere in the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/store/files/file_lock.hpp"

namespace tune {

/// The permitted uses of the file of a tuning database.
enum class database_access : std::uint8_t {
  read_write,  ///< everything
  read_only,   ///< nothing is written, also no journal; others may write meanwhile
  immutable,   ///< the same without any lock: a file that nobody changes, as on a read-only medium
};

/// The files that hold the results of a database.
struct database_place {
  std::string path;      ///< the file in which results are stored
  std::string shared{};  ///< a file that is read beneath it and never written; empty if none
};

/// Returns the files of the database of a path: the path itself or, if that is on the network, a
/// file of this machine that outlives restarts (detail::node_local_folder), named after the path,
/// over the file at the path. If this machine has no such folder it is the path all the same:
/// results are kept somewhere in any case. Either costs one warning. Looks at a path the first time
/// that a process asks for it. Thread-safe. @param path  may be empty, and is then returned
database_place place_database(const std::string& path);

namespace detail {

/// The same for a path on a file system of this kind.
database_place place_database(const std::string& path, std::optional<long> kind);

}  // namespace detail
}  // namespace tune

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
