// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/temporary_folder.hpp"

namespace backup_test {

using tune::back_up_database;
using tune::database_reader;
using tune::testing::random_content;
using tune::testing::temporary_folder;

TEST_CASE("a backup holds what was committed, also while a transaction is half written") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  const std::string before = canonical_text(database_reader(folder.file("db")).read_all());
  SQLite::Database writer(folder.file("db"), SQLite::OPEN_READWRITE);
  writer.exec("BEGIN IMMEDIATE; DELETE FROM libtune_search");
  back_up_database(folder.file("db"), folder.file("copy"));
  writer.exec("ROLLBACK");
  CHECK(canonical_text(database_reader(folder.file("copy")).read_all()) == before);
}

TEST_CASE("a backup takes the place of what was there, and leaves no other file") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  std::ofstream(folder.file("copy")) << "something else";
  back_up_database(folder.file("db"), folder.file("copy"));
  CHECK_FALSE(database_reader(folder.file("copy")).read_all().functions.empty());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename();
    CHECK((name == "db" || name == "copy" || name == "db-lock"));
  }
}

TEST_CASE("a database is not backed up over itself, nor one that is not there") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  CHECK_THROWS_AS(back_up_database(folder.file("db"), folder.file("db")), tune::argument_error);
  CHECK_THROWS_AS(back_up_database(folder.file("none"), folder.file("copy")), tune::database_error);
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
}

}  // namespace backup_test
