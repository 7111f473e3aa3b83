// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/schema_migration.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/row_checksum.hpp"
#include "libtune/store/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/store/version_1.hpp"

namespace schema_migration_test {

namespace fs = std::filesystem;
using tune::tuning_database;
using tune::testing::captured_errors;
using tune::testing::create_version_1;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;
using tune::testing::without_privileges;

/// Makes version 2 of a file of today: without the intervals of scores.
void turn_into_version_2(const std::string& path) {
  SQLite::Database opened(path, SQLite::OPEN_READWRITE);
  tune::detail::register_row_checksum(opened);
  opened.exec("ALTER TABLE libtune_trial DROP COLUMN score_lower_ns");
  opened.exec("ALTER TABLE libtune_trial DROP COLUMN score_upper_ns");
  opened.exec("ALTER TABLE libtune_trial DROP COLUMN level");
  opened.exec("UPDATE libtune_trial SET checksum = " +
              tune::detail::checksum_expression(
                  "libtune_trial",
                  std::vector<std::string>{"search_id", "position", "configuration", "outcome",
                                           "message", "score_ns", "samples_ns", "preparation_ns",
                                           "remembered", "programs", "made_at"}));
  opened.exec("PRAGMA user_version = 2");
}

std::string query(const std::string& path, const std::string& sql) {
  return SQLite::Database(path).execAndGet(sql).getString();
}

TEST_CASE("results and trials of version 1 are kept, whichever call comes first") {
  for (const bool reads_first : {true, false}) {
    const temporary_folder folder;
    const std::string path = create_version_1(folder);
    tuning_database database(path);
    if (!reads_first) database.store(sample_function(), sample_key(65), sample_tuning(1), 1);
    const auto found = database.find(sample_function(), sample_key());
    REQUIRE(found);
    CHECK(found->values == sample_tuning(128));
    CHECK(found->score_ns == 1500);
    const auto search = database.latest_search(sample_function(), sample_key());
    REQUIRE(search);
    REQUIRE(search->trials.size() == 1);
    CHECK(search->trials[0].configuration == sample_tuning(128));
    CHECK(search->trials[0].samples_ns == std::vector<double>{1499.5, 1500.5});
    CHECK(query(path, "PRAGMA user_version") == "3");
    CHECK(query(path, "PRAGMA integrity_check") == "ok");
    database.store(sample_function(), sample_key(), sample_tuning(64), 1);
    CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(64));
  }
}

TEST_CASE("trials of version 2 are kept, and a damaged one stays damaged") {
  const temporary_folder folder;
  const std::string path = folder.file("version_2.db");
  {
    tuning_database database(path);
    const auto search = database.begin_search(sample_function(), sample_key());
    for (const int wgs : {64, 128}) {
      database.add_trial(search, {.configuration = sample_tuning(wgs),
                                  .outcome = "measured",
                                  .samples_ns = {1500},
                                  .score_ns = 1500,
                                  .score_lower_ns = 1400,
                                  .score_upper_ns = 1600});
    }
  }
  turn_into_version_2(path);
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec("UPDATE libtune_trial SET score_ns = 1 WHERE position = 1");
  tuning_database database(path);
  database.store(sample_function(), sample_key(), sample_tuning(64), 1500);
  const auto search = database.latest_search(sample_function(), sample_key());
  CHECK(query(path, "PRAGMA user_version") == "3");
  REQUIRE(search);
  REQUIRE(search->trials.size() == 1);
  CHECK(search->trials[0].configuration == sample_tuning(64));
  CHECK(search->trials[0].score_ns == 1500);
  CHECK_FALSE(search->trials[0].score_lower_ns);
  CHECK(search->trials[0].level == 1);
}

TEST_CASE("a migration that fails leaves version 1 as it was") {
  const temporary_folder folder;
  const std::string path = create_version_1(folder);
  SQLite::Database opened(path, SQLite::OPEN_READWRITE);
  opened.exec("CREATE TABLE libtune_meta (a INTEGER)");
  tuning_database database(path);
  CHECK_THROWS_AS(database.find(sample_function(), sample_key()), tune::database_error);
  CHECK(query(path, "PRAGMA user_version") == "1");
  opened.exec("DROP TABLE libtune_meta");
  CHECK(database.find(sample_function(), sample_key()));
}

TEST_CASE("a table that somebody removed does not stop the migration of the others") {
  const temporary_folder folder;
  const std::string path = create_version_1(folder);
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec(
          "INSERT INTO libtune_function VALUES ('gone\"; DROP TABLE libtune_trial; --', 'g', 0, "
          "'')");
  CHECK(tuning_database(path).find(sample_function(), sample_key()));
}

TEST_CASE("version 1 that may only be read counts as empty, and says so") {
  const without_privileges ordinary;
  const temporary_folder folder;
  const std::string path = create_version_1(folder);
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  captured_errors errors;
  CHECK_FALSE(tuning_database(path).find(sample_function(), sample_key()));
  CHECK(errors.count("older libtune") == 1);
  fs::permissions(folder.path(), fs::perms(0755));
}

}  // namespace schema_migration_test
