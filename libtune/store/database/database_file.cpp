// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_file.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <sqlite3.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/plain_text.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/store/files/private_folder.hpp"
#include "libtune/store/files/store_url.hpp"

namespace tune {
namespace {

struct known_places {
  std::mutex mutex;
  std::map<std::string, database_place> places;
};

std::string local_name(const std::string& path) {
  constexpr std::size_t bytes = 8;
  const auto digest = detail::sha256(std::as_bytes(std::span(path)));
  return "tuning-" + detail::to_hex(std::span(digest).first(bytes)) + ".db";
}

// If a path cannot be made absolute, opening it reports the error.
std::string absolute(const std::string& path) {
  std::error_code reason;
  const std::string made = std::filesystem::absolute(path, reason).string();
  return reason ? path : made;
}

}  // namespace

database_place detail::place_database(const std::string& path, std::optional<long> kind) {
  if (!kind || !is_network_file_system(*kind)) return {path};
  if (const auto folder = node_local_folder()) {
    const std::string local = *folder + '/' + local_name(path);
    warn_once("the tuning database '" + path +
              "' is on the network, where it is not safe to write; results are kept in '" + local +
              "' on this machine, and that one is only read; 'tunedb merge' brings them there");
    return {local, path};
  }
  warn_once("the tuning database '" + path +
            "' is on the network, where it is slow and may be damaged; name another place with "
            "LIBTUNE_DB");
  return {path};
}

// Cached, because every lookup calls this, and a network may be slow.
database_place place_database(const std::string& path) {
  if (path.empty()) return {};
  static detail::never_destroyed<known_places> known;
  const std::string file = absolute(path);
  const std::lock_guard lock(known->mutex);
  const auto found = known->places.find(file);
  if (found != known->places.end()) return found->second;
  database_place place = detail::place_database(file, detail::file_system_of(file));
  if (place.shared.empty()) place.path = path;
  return known->places.emplace(file, std::move(place)).first->second;
}

}  // namespace tune

namespace tune::detail {
namespace {

namespace fs = std::filesystem;

database_fault failure_of(const std::string& path, const std::string& attempt,
                          const std::error_code& reason) {
  return database_failure(path, attempt, reason.message(),
                          "make the folder writable, or name another file with LIBTUNE_DB");
}

std::error_code last_error() { return {errno, std::generic_category()}; }

// In SQLite's file format: a big-endian number of four bytes in the first page.
constexpr std::size_t mark_offset = 68;

/// True if the header of an open file, read without SQLite's checks, marks a tuning database. False
/// if that part of the header is damaged, or the file too short.
bool has_own_mark(SQLite::Database& database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  std::array<unsigned char, 4> mark{};
  if (file == nullptr || file->pMethods == nullptr ||
      file->pMethods->xRead(file, mark.data(), mark.size(), mark_offset) != SQLITE_OK) {
    return false;
  }
  std::uint32_t number = 0;
  for (const unsigned char byte : mark) number = number << 8 | byte;
  return number == static_cast<std::uint32_t>(application_id);
}

/// True if the file is a tuning database that SQLite cannot interpret.
bool is_damaged(const std::string& path, std::chrono::milliseconds wait) {
  try {
    SQLite::Database opened(without_links_on_the_way(path),
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE,
                            static_cast<int>(wait.count()));
    if (!has_own_mark(opened)) return false;
    try {
      return opened.execAndGet("PRAGMA quick_check(1)").getString() != "ok";
    } catch (const SQLite::Exception& failure) {
      return is_damage(failure);
    }
  } catch (const SQLite::Exception&) {
    return false;  // a file that cannot be opened cannot be judged
  } catch (const database_error&) {
    return false;  // nor one that cannot be reached
  }
}

bool rename_if_there(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT;
}

// The name may exist if the clock was set back and a process number was reused.
std::string unused(const std::string& path) {
  std::string name = path;
  for (int number = 2; is_there(name); ++number) name = path + "-" + std::to_string(number);
  return name;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  require_file_path(path);
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
  // Opening reports other reasons, such as a folder without search permission.
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
    const bool plain = is_word(c) || c == '/' || c == '.' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
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
  for (const char* suffix :
       {"", "-journal", "-wal", "-shm", "-lock", "-missed", ".locks", "-pulled", "-push"}) {
    if (is_same(asked, file + suffix)) return true;
  }
  return is_same(asked.parent_path(), file + ".locks") ||
         is_same(asked.parent_path(), file + "-push");
}

void create_private_file(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  if (const std::error_code reason = create_private_folders(folder)) {
    throw failure_of(path, "create the folder '" + folder + "'", reason);
  }
  if (!is_there(path)) require_trust(path);  // in its folder, before any file is created there
  const ::mode_t mode = shares_database() ? 0660 : 0600;
  if (::mknod(path.c_str(), S_IFREG | mode, 0) == 0) {
    ::chmod(path.c_str(), mode);  // the umask may exclude even the owner
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

// The journals go first: a new database must never find another's journal.
std::optional<std::string> set_aside_if_damaged(const std::string& path,
                                                std::chrono::milliseconds wait) {
  const database_lock lock(path, lock_kind::alone, wait);
  if (!lock || !is_damaged(path, wait)) return std::nullopt;
  const std::string aside = unused(fmt::format("{}.damaged-{:%Y%m%dT%H%M%SZ}-{}", path,
                                               fmt::gmtime(std::time(nullptr)), ::getpid()));
  for (const char* suffix : {"-journal", "-wal", "-shm", ""}) {
    if (!rename_if_there(path + suffix, aside + suffix)) return std::nullopt;
  }
  return aside;
}

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw database_failure(path, "trust it", reason,
                         "take away the others' right to write (chmod go-w), name another file "
                         "with LIBTUNE_DB, or, for a group, set LIBTUNE_DB_ACCESS=shared");
}

// A sticky folder, such as the one for temporary files, is refused too: SQLite trusts any journal
// beside a database, and everybody can create one there at any time.
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
  // A symbolic link, or any other file that is not regular, is refused on opening.
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
