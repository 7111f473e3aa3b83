// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/system_trust.hpp"

#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_trust.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

/// Why anybody could have put there what has this status; empty if it is not so.
std::string objection(const struct stat& status, bool shared) {
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !sticky) return "may be written by everybody";
  if (!shared && status.st_uid != ::geteuid() && status.st_uid != 0) {
    return "belongs to another user";
  }
  return {};
}

}  // namespace

void require_system_trust(const std::string& path) {
  std::error_code missing;
  const fs::path target = fs::canonical(path, missing);
  if (missing) return;
  const bool shared = shares_database();
  for (const fs::path& place :
       std::set<fs::path>{target, target.parent_path(), fs::path(path).parent_path()}) {
    struct stat status {};
    if (::stat(place.c_str(), &status) != 0) continue;
    const std::string reason = objection(status, shared);
    if (reason.empty()) continue;
    throw database_failure(
        path, "trust it as a system database",
        (place == target ? "it " : "its folder '" + place.string() + "' ") + reason,
        "let the superuser own it and nobody else write it (chown root, chmod o-w), take it out of "
        "LIBTUNE_SYSTEM_DB, or, if its owner is to be trusted, set LIBTUNE_DB_ACCESS=shared");
  }
}

}  // namespace tune::detail
