// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/plain_name_vfs.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sqlite3.h>
#include <string>

#include "libtune/store/database_file.hpp"
#include "libtune/store/database_trust.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/temporary_folder.hpp"

namespace plain_name_vfs_test {

namespace fs = std::filesystem;
using tune::detail::name_in;
using tune::detail::open_folder_of;
using tune::detail::plain_name_vfs;
using tune::testing::temporary_folder;

constexpr int writable = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;

TEST_CASE("a name is made for each VFS that is the default, and always the same") {
  REQUIRE(plain_name_vfs() != nullptr);
  const std::string usual = plain_name_vfs();
  CHECK(usual == plain_name_vfs());
  CHECK(sqlite3_vfs_find(usual.c_str()) != sqlite3_vfs_find(nullptr));
  {
    const tune::testing::fault_vfs vfs;
    CHECK(usual != plain_name_vfs());
  }
  CHECK(usual == plain_name_vfs());
}

TEST_CASE("a database and its journal stay in the folder that was opened, wherever it goes") {
  const temporary_folder place;
  fs::create_directory(place.path() / "a");
  const auto folder = open_folder_of(place.file("a/tuning.db"));
  REQUIRE(folder);
  const std::string name = name_in(folder, place.file("a/tuning.db"));
  if (name.empty()) return;  // a system without /proc
  SQLite::Database opened(name.c_str(), writable, 0, plain_name_vfs());
  opened.exec("CREATE TABLE t (i)");
  fs::rename(place.path() / "a", place.path() / "b");
  fs::create_directory(place.path() / "a");
  opened.exec("BEGIN; INSERT INTO t VALUES (7)");
  CHECK(fs::exists(place.path() / "b/tuning.db-journal"));
  opened.exec("COMMIT");
  CHECK(fs::is_empty(place.path() / "a"));
  CHECK(SQLite::Database(place.file("b/tuning.db")).execAndGet("SELECT i FROM t").getInt() == 7);
}

TEST_CASE("a symbolic link in the file's place is not followed") {
  const temporary_folder place;
  std::ofstream(place.file("real.db")) << "";
  fs::create_symlink("real.db", place.path() / "link.db");
  const auto folder = open_folder_of(place.file("link.db"));
  const std::string name = name_in(folder, place.file("link.db"));
  if (name.empty()) return;
  CHECK_THROWS_AS(SQLite::Database(name.c_str(), writable, 0, plain_name_vfs()), SQLite::Exception);
}

TEST_CASE("a name that is too long is refused") {
  const std::string name = '/' + std::string(10'000, 'x');
  CHECK_THROWS_AS(SQLite::Database(name.c_str(), writable, 0, plain_name_vfs()), SQLite::Exception);
}

TEST_CASE("there is no name in a folder that cannot be reached") {
  CHECK(name_in(open_folder_of("/libtune-test/none/tuning.db"), "/x").empty());
}

}  // namespace plain_name_vfs_test
