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

/// Finds the files that a program includes, for compilers that do not report them: in an empty
/// mirror of the folders, each missing file is revealed by an error and then added.
///
/// The mirror lies in the system's folder of temporary files and mirrors the folders that the
/// compiler searches. It gets every file of a requested name, so that among several files of one
/// name the compiler finds the same one as in the original folders. It misses files that a program
/// only tests with __has_include, or includes by an absolute path; is_reliable detects such
/// programs.
class include_mirror {
 public:
  /// @param folder  the base of relative paths in the source; absolute
  /// @throws std::filesystem::filesystem_error
  include_mirror(const program_source& source, const std::string& folder);
  include_mirror(const include_mirror&) = delete;
  include_mirror& operator=(const include_mirror&) = delete;
  ~include_mirror();

  /// The source with options for the folders of the mirror.
  const program_source& source() const noexcept { return source_; }
  /// Makes the mirror of the base of relative paths the current folder of the process, during the
  /// life of the mirror. @throws std::filesystem::filesystem_error
  void enter() {
    std::filesystem::current_path(inside(folder_));
    entered_ = true;
  }

  /// Adds the files that the compiler's log reports as missing. False if the log names no file, or
  /// the file does not exist.
  bool add_missing(const std::string& log);

  /// False if the source or one of the files may read files undetected.
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
  std::set<std::string> names_;              // requested names
  std::vector<std::string> files_;
  bool reliable_ = true;
  bool entered_ = false;
};

}  // namespace tune::opencl
