// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/quarantine.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

// Of SQLite's file format: a big-endian number of four bytes in the first page.
constexpr std::size_t mark_offset = 68;

/// True if the file is one of ours and SQLite cannot make sense of it.
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
    return false;  // what cannot be opened cannot be judged
  } catch (const database_error&) {
    return false;  // nor what cannot be reached
  }
}

bool rename_if_there(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT;
}

// A clock that was set back and a number of a process that came again could name it twice.
std::string unused(const std::string& path) {
  std::string name = path;
  for (int number = 2; is_there(name); ++number) name = path + "-" + std::to_string(number);
  return name;
}

}  // namespace

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

// The journals go first: a new database must never find that of another.
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

}  // namespace tune::detail
