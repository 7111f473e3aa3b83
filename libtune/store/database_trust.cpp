// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database_trust.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/store/database_failure.hpp"

namespace tune::detail {
namespace {

/// Why others could change what has this status; empty if they cannot.
std::string objection(const struct stat& status, bool shared) {
  if ((status.st_mode & S_IWOTH) != 0) return "may be written by everybody";
  if (shared) return {};
  if ((status.st_mode & S_IWGRP) != 0) return "may be written by its group";
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "belongs to another user";
  return {};
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw database_failure(path, "trust it", reason,
                         "take away the others' right to write (chmod go-w), name another file "
                         "with LIBTUNE_DB, or, for a group, set LIBTUNE_DB_ACCESS=shared");
}

// The folder counts even if it is sticky, as that for temporary files is: SQLite believes any
// journal beside a database, and everybody can make one there, at any moment.
[[noreturn]] void refuse_sticky(const std::string& path, const std::string& folder) {
  const std::string own = folder + "/libtune-" + std::to_string(::geteuid());
  throw database_failure(
      path, "trust it",
      "its folder '" + folder + "' may be written by everybody, who could put a journal beside it",
      "make a folder of your own in it (mkdir -m 700 '" + own +
          "') and name a file there, as in "
          "LIBTUNE_DB='" +
          own + "/tuning.db'");
}

}  // namespace

bool shares_database() {
  return read_environment_choice<bool>("LIBTUNE_DB_ACCESS", {{"private", false}, {"shared", true}})
      .value_or(false);
}

file_descriptor open_folder_of(const std::string& path) noexcept {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return file_descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void require_trust(const std::string& path) { require_trust(open_folder_of(path), path); }

void require_trust(const file_descriptor& folder, const std::string& path) {
  const bool shared = shares_database();
  struct stat status {};
  const std::filesystem::path file(path);
  // Without a descriptor the path has to do: there is no such folder, or there are too many files.
  if (folder ? ::fstat(folder.get(), &status) == 0
             : ::stat(file.parent_path().c_str(), &status) == 0) {
    const std::string reason = objection(status, shared);
    const bool is_sticky = (status.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (is_sticky) refuse_sticky(path, file.parent_path().string());
    if (!reason.empty()) refuse(path, "its folder " + reason);
  }
  // Links and the like are refused with the opening.
  const std::string name = folder ? file.filename().string() : path;
  const int at = folder ? folder.get() : AT_FDCWD;
  if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(status.st_mode)) return;
  const std::string reason = objection(status, shared);
  if (!reason.empty()) refuse(path, "it " + reason);
  if (status.st_nlink > 1) refuse(path, "it has several names");
}

}  // namespace tune::detail
