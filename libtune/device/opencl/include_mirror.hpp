// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libtune/device/inclusion.hpp"

namespace tune::opencl {

/// Finds out which files a program includes from a compiler that has no way to tell: in a folder
/// that has none of them it asks for one after the other, by the error that it cannot find it.
///
/// The folder lies in the system's folder of temporary files and mirrors the folders that the
/// compiler searches. It has every file of a name that was asked for, so that of several files of
/// one name the compiler finds the same one as it would in the originals. A file that a program
/// only asks for with __has_include, or names by an absolute path, escapes it; such programs are
/// told from others by is_reliable.
class include_mirror {
 public:
  /// @param folder  where relative paths in the source begin; absolute
  /// @throws std::filesystem::filesystem_error
  include_mirror(const program_source& source, const std::string& folder);
  include_mirror(const include_mirror&) = delete;
  include_mirror& operator=(const include_mirror&) = delete;
  ~include_mirror();

  /// The source with options that name folders of the mirror.
  const program_source& source() const noexcept { return source_; }
  /// Makes the mirror of the folder where relative paths begin the current folder of the process,
  /// until the end of the mirror. @throws std::filesystem::filesystem_error
  void enter() {
    std::filesystem::current_path(inside(folder_));
    entered_ = true;
  }

  /// Adds the files that the compiler did not find, by its log. False if the log names none, or
  /// there is none.
  bool add_missing(const std::string& log);

  /// False if the source or one of the files may read files unnoticed.
  bool is_reliable() const noexcept { return reliable_; }

  /// The originals of the files that were added.
  const std::vector<std::string>& files() const noexcept { return files_; }

 private:
  std::filesystem::path inside(const std::filesystem::path& original) const {
    return root_ / original.relative_path();
  }
  void add_folder(const std::filesystem::path& original);
  bool add(const std::filesystem::path& original);
  void look_at(const std::string& text);

  std::filesystem::path root_;
  std::filesystem::path folder_;
  program_source source_;
  std::set<std::filesystem::path> folders_;  // originals
  std::set<std::string> names_;              // asked for
  std::vector<std::string> files_;
  bool reliable_ = true;
  bool entered_ = false;
};

}  // namespace tune::opencl
