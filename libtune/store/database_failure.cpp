// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database_failure.hpp"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <sqlite3.h>

namespace tune::detail {
namespace {

// An extended code keeps the primary one in its low byte; -1 is SQLiteCpp's own.
int primary_code(const SQLite::Exception& failure) noexcept {
  return failure.getErrorCode() < 0 ? SQLITE_ERROR : failure.getErrorCode() & 0xff;
}

const char* remedy_for(int code) noexcept {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another process holds it: try again, or end that process";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the file is damaged: one of libtune's is moved aside when the next result is stored; "
             "else move it away, or name another file with LIBTUNE_DB";
    case SQLITE_NOMEM: return "free some memory";
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
      return "the file holds more than a tuning database should: move it away and a new one is "
             "made";
    case SQLITE_FULL: return "free some space, or name another file with LIBTUNE_DB";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "make the file and its folder readable and writable, and no symbolic link, or name "
             "another file with LIBTUNE_DB";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR: return "if it was edited by hand, undo that, or move the file away";
    default: return "check the file system, or name another file with LIBTUNE_DB";
  }
}

}  // namespace

database_error database_failure(const std::string& path, const std::string& attempt,
                                const std::string& reason, const std::string& remedy) {
  return database_error(
      fmt::format("tuning database '{}': could not {}: {}; {}", path, attempt, reason, remedy));
}

database_error database_failure(const std::string& path, const std::string& attempt,
                                const SQLite::Exception& failure) {
  return database_failure(path, attempt, failure.what(), remedy_for(primary_code(failure)));
}

bool is_busy(const SQLite::Exception& failure) noexcept {
  const int code = primary_code(failure);
  return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

bool is_damage(const SQLite::Exception& failure) noexcept {
  const int code = primary_code(failure);
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace tune::detail
