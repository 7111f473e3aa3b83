// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_trust.hpp"

#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/store/database/database_failure.hpp"

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

/// Why anybody could have put there what has this status; empty if it is not so.
std::string system_objection(const struct stat& status, bool shared) {
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !sticky) return "may be written by everybody";
  if (!shared && status.st_uid != ::geteuid() && status.st_uid != 0) {
    return "belongs to another user";
  }
  return {};
}

}  // namespace

bool shares_database() {
  return read_environment_choice<bool>("LIBTUNE_DB_ACCESS", {{"private", false}, {"shared", true}})
      .value_or(false);
}

void require_trust(const std::string& path) {
  const bool shared = shares_database();
  struct stat status {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::stat(folder.c_str(), &status) == 0) {
    const std::string reason = objection(status, shared);
    const bool is_sticky = (status.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (is_sticky) refuse_sticky(path, folder);
    if (!reason.empty()) refuse(path, "its folder " + reason);
  }
  // Links and the like are refused with the opening.
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::string reason = objection(status, shared);
  if (!reason.empty()) refuse(path, "it " + reason);
  if (status.st_nlink > 1) refuse(path, "it has several names");
}

void require_system_trust(const std::string& path) {
  std::error_code missing;
  const std::filesystem::path target = std::filesystem::canonical(path, missing);
  if (missing) return;
  const bool shared = shares_database();
  for (const std::filesystem::path& place : std::set<std::filesystem::path>{
           target, target.parent_path(), std::filesystem::path(path).parent_path()}) {
    struct stat status {};
    if (::stat(place.c_str(), &status) != 0) continue;
    const std::string reason = system_objection(status, shared);
    if (reason.empty()) continue;
    throw database_failure(
        path, "trust it as a system database",
        (place == target ? "it " : "its folder '" + place.string() + "' ") + reason,
        "let the superuser own it and nobody else write it (chown root, chmod o-w), take it out of "
        "LIBTUNE_SYSTEM_DB, or, if its owner is to be trusted, set LIBTUNE_DB_ACCESS=shared");
  }
}

}  // namespace tune::detail
