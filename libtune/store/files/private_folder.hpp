// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "libtune/base/file_descriptor.hpp"

namespace tune::detail {

/// Makes the folders of a path, readable by their owner only. What exists stays as it is.
/// @returns why one of them could not be made; what is there but no folder is for later to find
std::error_code create_private_folders(const std::string& path);

/// A point in time as a file system tells it, in nanoseconds since 1970. Good for comparing files
/// of one folder, not for measuring.
using file_time = std::int64_t;

/// A regular file of a folder.
struct listed_file {
  std::string name;
  std::uint64_t bytes = 0;
  file_time used = 0;  ///< when it was written or touched last
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

  /// Puts one file in the place of another at once. @throws std::system_error
  void rename_file(const std::string& from, const std::string& to) const;
  /// Removes a file, or finds that it is gone. @throws std::system_error
  void remove_file(const std::string& name) const;
  /// Every regular file that is still there when its turn comes. @throws std::system_error
  std::vector<listed_file> list_files() const;
  /// Makes what was renamed survive a loss of power. @throws std::system_error
  void synchronise() const;

 private:
  explicit private_folder(file_descriptor folder) noexcept : folder_(std::move(folder)) {}

  file_descriptor folder_;
};

/// When a file was written or touched last. @throws std::system_error
file_time last_use(const file_descriptor& file);
/// The system clock, on the same scale.
file_time current_time() noexcept;

/// The names of the files that have to go so that the rest has at most these bytes: those that were
/// not used for longest, as few as do. Of two that were used at the same time the first by name.
/// Those whose use lies ahead go before all others: a clock was wrong when they were used, and they
/// would stay for as long as it was.
/// @param now  as the file system tells it
std::vector<std::string> least_recently_used(std::vector<listed_file> files,
                                             std::uint64_t allowed_bytes, file_time now);

}  // namespace tune::detail
