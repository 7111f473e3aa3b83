// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_failure.hpp"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <mutex>
#include <new>
#include <set>
#include <sqlite3.h>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

// An extended code has the primary one in its low byte; -1 is SQLiteCpp's own.
int primary_code(const SQLite::Exception& failure) noexcept {
  return failure.getErrorCode() < 0 ? SQLITE_ERROR : failure.getErrorCode() & 0xff;
}

struct told_faults {
  std::mutex mutex;
  std::set<std::string> faults;
};

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
      return "it took too long: the disk is slow, or the file holds more than a tuning database "
             "should; see tunedb check";
    case SQLITE_TOOBIG:
      return "the file holds more than a tuning database should: move it away and a new one is "
             "made";
    case SQLITE_FULL: return "free some space, or name another file with LIBTUNE_DB";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "make the file and its folder readable and writable, replace symbolic links, or name "
             "another file with LIBTUNE_DB";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR: return "if it was edited by hand, undo that, or move the file away";
    default: return "check the file system, or name another file with LIBTUNE_DB";
  }
}

}  // namespace

void warn_of_failure(const database_error& failure) noexcept {
  const auto* known = dynamic_cast<const database_fault*>(&failure);
  if (known == nullptr) return warn_once(failure.what());
  try {
    static never_destroyed<told_faults> told;
    bool is_new = false;
    {
      const std::lock_guard lock(told->mutex);
      is_new = told->faults.insert(known->fault()).second;
    }
    if (is_new) return warn_once(failure.what());
    log(log_level::debug, failure.what());
  } catch (const std::bad_alloc&) {
    return;
  }
}

database_fault database_failure(const std::string& path, const std::string& attempt,
                                const std::string& reason, const std::string& remedy) {
  return {fmt::format("tuning database '{}': could not {}: {}; {}", path, attempt, reason, remedy),
          path + '\n' + reason};
}

database_fault database_failure(const std::string& path, const std::string& attempt,
                                const SQLite::Exception& failure) {
  return database_failure(path, attempt, failure.what(), remedy_for(primary_code(failure)));
}

bool is_busy(const SQLite::Exception& failure) noexcept {
  const int code = primary_code(failure);
  return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

bool is_interruption(const SQLite::Exception& failure) noexcept {
  return primary_code(failure) == SQLITE_INTERRUPT;
}

bool is_damage(const SQLite::Exception& failure) noexcept {
  const int code = primary_code(failure);
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace tune::detail
