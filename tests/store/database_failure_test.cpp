// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_failure.hpp"

#include <SQLiteCpp/Exception.h>
#include <doctest/doctest.h>
#include <set>
#include <sqlite3.h>
#include <string>

namespace database_failure_test {

using tune::detail::database_failure;
using tune::detail::is_busy;

TEST_CASE("the text names the path, the attempt, the reason and the remedy") {
  const SQLite::Exception failure("disk is full", SQLITE_FULL);
  CHECK(std::string(database_failure("/a/b.db", "store it", failure).what()) ==
        "tuning database '/a/b.db': could not store it: disk is full; free some space, or name "
        "another file with LIBTUNE_DB");
}

TEST_CASE("what to do depends on what SQLite says") {
  std::set<std::string> texts;
  for (const int code :
       {SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_READONLY, SQLITE_MISMATCH, SQLITE_IOERR}) {
    texts.insert(database_failure("p", "a", SQLite::Exception("same", code)).what());
  }
  CHECK(texts.size() == 6);
}

TEST_CASE("an extended code means what its primary code does") {
  const auto text = [](int code) {
    return std::string(database_failure("p", "a", SQLite::Exception("same", code)).what());
  };
  CHECK(text(SQLITE_READONLY_DBMOVED) == text(SQLITE_READONLY));
  CHECK(is_busy(SQLite::Exception("x", SQLITE_BUSY)));
  CHECK(is_busy(SQLite::Exception("x", SQLITE_BUSY_RECOVERY)));
  CHECK_FALSE(is_busy(SQLite::Exception("x", SQLITE_IOERR)));
  CHECK_FALSE(is_busy(SQLite::Exception("without a code")));
}

}  // namespace database_failure_test
