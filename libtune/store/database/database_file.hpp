// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The database as a file. Only SQLite opens it: closing it again would release the locks that
// SQLite holds on it elsewhere in the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/store/files/file_lock.hpp"

namespace tune {

/// The permitted uses of a tuning database's file.
enum class database_access : std::uint8_t {
  read_write,  ///< everything
  read_only,   ///< no writes, not even a journal; other processes may write meanwhile
  immutable,   ///< the same without locks, for a file that nobody changes, as on a read-only medium
};

/// The files with the results of a database.
struct database_place {
  std::string path;      ///< the file that results are stored in
  std::string shared{};  ///< a file beneath it that is only read; may be empty
};

/// Returns the files for the path of a database. Usually that is the path itself. If the path is on
/// the network, results go to a file of this machine that survives restarts
/// (detail::node_local_folder) and has a name derived from the path; the file at the path is read
/// beneath it. If this machine has no such folder, the path itself is used, so that results are
/// stored in any case. Both cases cause one warning. A path is examined on the first call in a
/// process. Thread-safe. @param path  may be empty, and is then returned
database_place place_database(const std::string& path);

namespace detail {

/// The same for a path on a file system of this kind.
database_place place_database(const std::string& path, std::optional<long> kind);

}  // namespace detail
}  // namespace tune

namespace tune::detail {

/// Returns the absolute form of a path, which SQLite interprets as the path of a file, never as a
/// URI or a database in memory. @throws argument_error if the path cannot name a file
std::string absolute_path(const std::string& path);

/// True if anything exists at this path, including a dangling symbolic link.
bool is_there(const std::string& path);

/// Returns the path of the same file without symbolic links in its folders; the file itself may
/// still be one. @throws database_error if the folder cannot be reached
std::string without_links_on_the_way(const std::string& path);

/// Prevents opening anything else, such as a pipe, which could wait for ever.
/// @throws database_error unless the path leads to a regular file
void require_regular_file(const std::string& path);

/// Returns the URI by which SQLite reads a file that nobody changes: without locks and without
/// checking for journals. Follows symbolic links, including the file itself, as in packages.
/// @throws database_error if there is no such file
std::string immutable_uri(const std::string& path);

/// Creates missing folders, readable by their owner only, and an empty file for the owner to read
/// and write. Existing ones are unchanged. @throws database_error
void create_private_file(const std::string& path);

/// True if a path is that of a database or of one of its accompanying files: its journals, locks
/// and missed keys; by name, through links, or as another name of the same file. Writing there
/// would destroy results.
bool belongs_to_database(const std::string& path, const std::string& database);

/// Keeps a database's file in place during writes: all writers share the lock, and the process that
/// moves a damaged file aside locks it exclusively. A journal is found by the name of its database,
/// so a journal that is written while its database moves would be taken for the next database's.
///
/// The lock is on an empty file beside the database that is never removed. If it cannot be created,
/// or the file system has no locks, there is no exclusion.
class [[nodiscard]] database_lock {
 public:
  /// Appended to the database's path.
  static constexpr const char* suffix = "-lock";

  /// Waits for other processes. @param wait  the longest wait
  database_lock(const std::string& path, lock_kind kind, std::chrono::milliseconds wait);

  /// False if others still held the lock at the end.
  explicit operator bool() const noexcept { return held_; }

 private:
  file_lock lock_;
  bool held_;
};

/// Moves a damaged tuning database aside, with its journals, to "<path>.damaged-<time>-<process>",
/// so that a new one can be created in its place. It locks the file exclusively meanwhile; the
/// caller must not have a connection open.
/// @param wait  the longest wait for other processes
/// @returns the new path; nothing if the file is sound, belongs to another application, is gone, or
/// could not be moved and therefore stays
std::optional<std::string> set_aside_if_damaged(const std::string& path,
                                                std::chrono::milliseconds wait);

/// True if LIBTUNE_DB_ACCESS allows a group to write the database. @throws environment_error
bool shares_database();

/// Checks that only this user and the superuser can change a database: file and folder belong to
/// one of them and are not writable for a group or others, and the file is a regular one with one
/// name. The folder is the one after following all links. With LIBTUNE_DB_ACCESS=shared a group may
/// write, and any user may be the owner. Missing files and folders are accepted. A sticky folder
/// such as /tmp counts as writable for everybody: files in it would be safe, but not the journal
/// that SQLite looks for beside the database.
/// @throws database_error that says what to change
void require_trust(const std::string& path);

/// Checks that only the superuser or this user can have placed a system database there: the file
/// after following all links belongs to the superuser or this user and is not writable for
/// everybody, and the same holds for its folder and for the folder of the link to it. A sticky
/// folder for everybody, in which users cannot replace the files of others, is accepted; so is a
/// group with write permission, because the owner has chosen it. With LIBTUNE_DB_ACCESS=shared any
/// user may be the owner. A missing file is reported on opening.
/// @throws database_error that says what to change
void require_system_trust(const std::string& path);

}  // namespace tune::detail
