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
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

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

void require_trust(const std::string& path) {
  const bool shared = shares_database();
  const trust_policy policy{.superuser = true, .anybody = shared, .group = shared};
  struct stat status {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::stat(folder.c_str(), &status) == 0) {
    const std::string reason = distrust(status, policy);
    const bool is_sticky = (status.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (is_sticky) refuse_sticky(path, folder);
    if (!reason.empty()) refuse(path, "its folder " + reason);
  }
  // A symbolic link, or another file that is not regular, is refused when it is opened.
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::string reason = distrust(status, policy);
  if (!reason.empty()) refuse(path, "it " + reason);
  if (status.st_nlink > 1) refuse(path, "it has several names");
}

void require_system_trust(const std::string& path) {
  std::error_code missing;
  const std::filesystem::path target = std::filesystem::canonical(path, missing);
  if (missing) return;
  const trust_policy policy{
      .superuser = true, .anybody = shares_database(), .group = true, .sticky_folder = true};
  for (const std::filesystem::path& place : std::set<std::filesystem::path>{
           target, target.parent_path(), std::filesystem::path(path).parent_path()}) {
    struct stat status {};
    if (::stat(place.c_str(), &status) != 0) continue;
    const std::string reason = distrust(status, policy);
    if (reason.empty()) continue;
    throw database_failure(
        path, "trust it as a system database",
        (place == target ? "it " : "its folder '" + place.string() + "' ") + reason,
        "let the superuser own it and nobody else write it (chown root, chmod o-w), take it out of "
        "LIBTUNE_SYSTEM_DB, or, if its owner is to be trusted, set LIBTUNE_DB_ACCESS=shared");
  }
}

}  // namespace tune::detail
