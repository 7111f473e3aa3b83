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

/// The users who may own and write a file or folder that is trusted, besides the effective user.
struct trust_policy {
  bool superuser = false;      ///< the superuser may own it
  bool anybody = false;        ///< anybody may own it
  bool group = false;          ///< its group may write it
  bool sticky_folder = false;  ///< everybody may write a folder with the sticky bit, as /tmp has
};

/// Returns why other users could change what has this status: "may be written by everybody", "may
/// be written by its group", "belongs to another user"; empty if it is to be trusted.
std::string distrust(const struct stat& status, const trust_policy& policy);

/// Makes the folders of a path, readable by their owner only. Existing ones stay as they are.
/// @returns why one of them could not be made; a file in the place of the last one is no failure
std::error_code create_private_folders(const std::string& path);

/// A time of a file system, in nanoseconds since 1970. Good for comparing files of one folder, not
/// for measuring.
using file_time = std::int64_t;

/// A regular file of a folder.
struct listed_file {
  std::string name;
  std::uint64_t bytes = 0;
  file_time used = 0;  ///< the last time that it was written or touched
};

/// An open folder that nobody but this user can change: it belongs to the effective user, gives no
/// other the right to write, and is no symbolic link. Files are reached through the folder that
/// was opened, whatever takes its name afterwards. Names are those of files in the folder itself.
/// Functions that are const may be called by several threads.
class private_folder {
 public:
  /// The folder at an absolute path; empty if there is none.
  /// @throws std::system_error if it cannot be opened or is not private
  static std::optional<private_folder> open(const std::string& path);

  /// A file that this user alone can change, open for reading; empty if there is none.
  /// @throws std::system_error if there is something else of this name
  file_descriptor open_file(const std::string& name) const;
  /// A new and empty file for the owner alone. @throws std::system_error
  file_descriptor create_file(const std::string& name) const;
  /// The file of this name to take locks on, made if there is none. @throws std::system_error
  file_descriptor open_lock_file(const std::string& name) const;

  /// Replaces one file by another in one step. @throws std::system_error
  void rename_file(const std::string& from, const std::string& to) const;
  /// Removes a file; one that is gone is no failure. @throws std::system_error
  void remove_file(const std::string& name) const;
  /// The regular files; those that are removed meanwhile may be missing. @throws std::system_error
  std::vector<listed_file> list_files() const;
  /// Makes renamed files survive a loss of power. @throws std::system_error
  void synchronise() const;

 private:
  explicit private_folder(file_descriptor folder) noexcept : folder_(std::move(folder)) {}

  file_descriptor folder_;
};

/// The last time that a file was written or touched. @throws std::system_error
file_time last_use(const file_descriptor& file);
/// The system clock, on the same scale.
file_time current_time() noexcept;

/// The names of the files to remove so that the rest has at most these bytes: the least recently
/// used ones, no more than necessary; of two with the same time the first by name. Those with a
/// time more than an hour ahead go first: a clock was wrong, and they would stay until that time.
/// @param now  by the file system's clock
std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now);

/// A file that is written under a random name and then replaces another, so that readers see all
/// of it or nothing. Removed at the end of its life unless it has been published; a killed process
/// leaves it behind. Not thread-safe.
class [[nodiscard]] temporary_file {
 public:
  /// @param folder  outlives this
  /// @throws std::system_error
  explicit temporary_file(const private_folder& folder);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  /// Appends. A limit on the size of files is an error like a full disk, not a signal.
  /// @throws std::system_error
  void write(std::span<const std::byte> bytes);
  /// Makes the content survive a loss of power. @throws std::system_error
  void synchronise();
  /// The time of the last write, by the file system's clock. @throws std::system_error
  file_time written() const { return last_use(file_); }
  /// Gives it its final name, in place of the file that has the name now.
  /// @throws std::system_error
  void publish(const std::string& name);

 private:
  const private_folder& folder_;
  std::string name_;
  file_descriptor file_;
};

/// True if only a temporary_file can have this name.
bool is_temporary_name(std::string_view name) noexcept;

}  // namespace tune::detail
