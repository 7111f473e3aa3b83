// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <vector>

#include "libtune/base/file_descriptor.hpp"

namespace tune::detail {

/// The users who may own and write a trusted file or folder, besides the effective user.
struct trust_policy {
  bool superuser = false;      ///< the superuser may own it
  bool anybody = false;        ///< anybody may own it
  bool group = false;          ///< its group may write it
  bool sticky_folder = false;  ///< everybody may write a folder with the sticky bit, such as /tmp
};

/// Returns the reason why other users could change a file with this status: "may be written by
/// everybody", "may be written by its group", "belongs to another user"; empty if it is trusted.
std::string distrust(const struct stat& status, const trust_policy& policy);

/// Creates the folders of a path, readable by their owner only. Existing ones are unchanged.
/// @returns the reason for a failure; a file in the place of the last folder is not a failure
std::error_code create_private_folders(const std::string& path);

/// A time of a file system, in nanoseconds since 1970. For comparing files of one folder, not for
/// measuring.
using file_time = std::int64_t;

/// A regular file of a folder.
struct listed_file {
  std::string name;
  std::uint64_t bytes = 0;
  file_time used = 0;  ///< when it was last written or touched
};

/// An open folder that only this user can change: it belongs to the effective user, is not writable
/// for others, and is not a symbolic link. Files are accessed through the opened folder, even if
/// its name changes afterwards. Names are those of files directly in the folder. Const functions
/// may be called by several threads.
class private_folder {
 public:
  /// Opens the folder at an absolute path; empty if it is missing.
  /// @throws std::system_error if it cannot be opened or is not private
  static std::optional<private_folder> open(const std::string& path);

  /// Opens a file that only this user can change, for reading; empty if it is missing.
  /// @throws std::system_error if the name belongs to something else
  file_descriptor open_file(const std::string& name) const;
  /// Creates a new, empty file for the owner only. @throws std::system_error
  file_descriptor create_file(const std::string& name) const;
  /// Opens the file of this name for locking, and creates it if needed. @throws std::system_error
  file_descriptor open_lock_file(const std::string& name) const;

  /// Replaces one file by another atomically. @throws std::system_error
  void rename_file(const std::string& from, const std::string& to) const;
  /// Removes a file; a missing one is not a failure. @throws std::system_error
  void remove_file(const std::string& name) const;
  /// Lists the regular files; files removed meanwhile may be missing. @throws std::system_error
  std::vector<listed_file> list_files() const;
  /// Makes renamed files survive a loss of power. @throws std::system_error
  void synchronise() const;

 private:
  explicit private_folder(file_descriptor folder) noexcept : folder_(std::move(folder)) {}

  file_descriptor folder_;
};

/// Returns the last time that a file was written or touched. @throws std::system_error
file_time last_use(const file_descriptor& file);
/// Returns the system clock, on the same scale.
file_time current_time() noexcept;

/// Returns the names of the files to remove so that the rest has at most this many bytes: the least
/// recently used ones, no more than necessary; among equal times the first by name. Files with a
/// time more than an hour in the future go first: a clock was wrong, and they would stay until that
/// time.
/// @param now  on the file system's clock
std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now);

/// A file that is written under a random name and then replaces another, so that readers see all of
/// it or nothing. Removed at the end of its life unless published; a killed process leaves it
/// behind. Not thread-safe.
class [[nodiscard]] temporary_file {
 public:
  /// @param folder  has to outlive this object
  /// @throws std::system_error
  explicit temporary_file(const private_folder& folder);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  /// Appends bytes. A limit on the size of files is an error like a full disk, not a signal.
  /// @throws std::system_error
  void write(std::span<const std::byte> bytes);
  /// Makes the content survive a loss of power. @throws std::system_error
  void synchronise();
  /// The time of the last write, on the file system's clock. @throws std::system_error
  file_time written() const { return last_use(file_); }
  /// Gives it its final name, replacing the present file of that name.
  /// @throws std::system_error
  void publish(const std::string& name);

 private:
  const private_folder& folder_;
  std::string name_;
  file_descriptor file_;
};

/// True if a name has the form of a temporary_file's.
bool is_temporary_name(std::string_view name) noexcept;

}  // namespace tune::detail
