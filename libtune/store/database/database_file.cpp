// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_file.hpp"

#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_trust.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

database_fault failure_of(const std::string& path, const std::string& attempt,
                          const std::error_code& reason) {
  return database_failure(path, attempt, reason.message(),
                          "make the folder writable, or name another file with LIBTUNE_DB");
}

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

std::string absolute_path(const std::string& path) {
  if (path.find('\0') != std::string::npos || !fs::path(path).has_filename()) {
    throw argument_error("'" + path + "' cannot be the path of a tuning database; name a file");
  }
  std::error_code reason;
  const fs::path absolute = fs::absolute(path, reason);
  if (reason) throw failure_of(path, "find the current folder", reason);
  return absolute.string();
}

bool is_there(const std::string& path) {
  struct stat ignored {};
  if (::lstat(path.c_str(), &ignored) == 0) return true;
  // Other reasons, such as a folder that may not be searched, are for the opening to report.
  return errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG;
}

std::string without_links_on_the_way(const std::string& path) {
  const fs::path given(path);
  std::error_code reason;
  const fs::path folder = fs::canonical(given.parent_path(), reason);
  if (reason) throw failure_of(path, "reach its folder", reason);
  return (folder / given.filename()).string();
}

void require_regular_file(const std::string& path) {
  std::error_code reason;
  const fs::file_status found = fs::status(path, reason);
  if (fs::is_regular_file(found)) return;
  throw database_failure(path, "open it",
                         fs::exists(found) ? "it is no regular file" : "there is no such file",
                         "make it a copy of a tuning database, or name another file");
}

std::string immutable_uri(const std::string& path) {
  std::error_code reason;
  const fs::path target = fs::canonical(path, reason);
  if (reason) {
    throw database_failure(path, "open it", reason.message(),
                           "make it readable, or do not name it");
  }
  std::string uri = "file:";
  for (const char c : target.string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?mode=ro&immutable=1";
}

bool belongs_to_database(const std::string& path, const std::string& database) {
  const std::string file = absolute_path(database);
  const auto is_same = [](const fs::path& one, const fs::path& other) {
    std::error_code ignored;
    if (fs::equivalent(one, other, ignored)) return true;
    const fs::path resolved = fs::weakly_canonical(one, ignored);
    return !resolved.empty() && resolved == fs::weakly_canonical(other, ignored);
  };
  const fs::path asked = fs::absolute(path);
  for (const char* suffix : {"", "-journal", "-wal", "-shm", "-lock", "-missed", ".locks"}) {
    if (is_same(asked, file + suffix)) return true;
  }
  return is_same(asked.parent_path(), file + ".locks");
}

void create_private_file(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  if (const std::error_code reason = create_private_folders(folder)) {
    throw failure_of(path, "create the folder '" + folder + "'", reason);
  }
  if (!is_there(path)) require_trust(path);  // in its folder, before anything is put there
  const ::mode_t mode = shares_database() ? 0660 : 0600;
  if (::mknod(path.c_str(), S_IFREG | mode, 0) == 0) {
    ::chmod(path.c_str(), mode);  // the process may have a mask that keeps even the owner out
  } else if (errno != EEXIST) {
    throw failure_of(path, "create the file", last_error());
  }
}

database_lock::database_lock(const std::string& path, lock_kind kind,
                             std::chrono::milliseconds wait)
    : lock_(
          file_descriptor(::open((path + suffix).c_str(),
                                 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                 shares_database() ? 0660 : 0600))),
      held_(lock_.take(wait, kind)) {}

}  // namespace tune::detail
