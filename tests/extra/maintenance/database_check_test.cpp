// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_check.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <clocale>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_check_test {

namespace fs = std::filesystem;
using tune::check_database;
using tune::check_finding;
using tune::testing::content_of;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;
using names = std::vector<std::string>;

struct checked_database {
  checked_database() {
    tune::tuning_database database(path);
    database.store(sample_function("f"), sample_key(), sample_tuning(1), 1.25);
    const auto search = database.begin_search(sample_function("f"), sample_key());
    database.add_trial(search, {.configuration = sample_tuning(1), .outcome = "measured"});
  }

  void change(const std::string& sql) const {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
};

/// What was found wrong. The file system is not ours to choose.
names faults(const std::string& path) {
  names subjects;
  for (const check_finding& finding : check_database(path)) {
    CHECK_FALSE(finding.text.empty());
    if (!finding.good && finding.subject != "file system") subjects.push_back(finding.subject);
  }
  return subjects;
}

std::string text_of(const std::string& path, const std::string& subject) {
  const auto all = check_database(path);
  const auto found = std::ranges::find(all, subject, &check_finding::subject);
  return found == all.end() ? std::string() : found->text;
}

TEST_CASE("a sound database has no fault, and is not changed by the check") {
  const checked_database database;
  const std::string before = content_of(database.path);
  CHECK(faults(database.path).empty());
  CHECK(text_of(database.path, "checksums") == "1 results and 1 searches are intact");
  CHECK(content_of(database.path) == before);
}

// tree.locales runs it where the locale of the environment has another decimal sign.
TEST_CASE("a row that was written in one locale is intact in another") {
  const std::string here = std::setlocale(LC_ALL, nullptr);
  for (const std::string& writer : {std::string("C"), here}) {
    std::setlocale(LC_ALL, writer.c_str());
    const checked_database database;
    std::setlocale(LC_ALL, writer == here ? "C" : here.c_str());
    CHECK(faults(database.path).empty());
    const auto found =
        tune::tuning_database(database.path).find(sample_function("f"), sample_key());
    REQUIRE(found);
    CHECK(found->values == sample_tuning(1));
    CHECK(found->score_ns == 1.25);
    std::setlocale(LC_ALL, here.c_str());
  }
}

TEST_CASE("a file that is not there is no fault, nor is a new one") {
  const temporary_folder folder;
  CHECK(faults(folder.file("none.db")).empty());
  std::ofstream(folder.file("new.db")) << "";
  fs::permissions(folder.file("new.db"), fs::perms(0600));
  CHECK(faults(folder.file("new.db")).empty());
}

TEST_CASE("rows that were changed by hand are counted") {
  const checked_database database;
  database.change("UPDATE f__0 SET value_wgs = 2; UPDATE libtune_trial SET outcome = 'skipped'");
  CHECK(faults(database.path) == names{"checksums"});
  CHECK(text_of(database.path, "checksums").starts_with("2 rows"));
}

TEST_CASE("trials without a search are found") {
  const checked_database database;
  database.change("PRAGMA foreign_keys = OFF; DELETE FROM libtune_search");
  const names found = faults(database.path);
  CHECK(std::ranges::count(found, "references") == 1);
}

TEST_CASE("a page that makes no sense is found") {
  const checked_database database;
  std::fstream file(database.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3 * 4096);
  file << std::string(4096, '\x5A');
  file.close();
  CHECK_FALSE(faults(database.path).empty());
}

TEST_CASE("a file of another application and one of nonsense are no databases of ours") {
  const temporary_folder folder;
  SQLite::Database(folder.file("other.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t (i)");
  fs::permissions(folder.file("other.db"), fs::perms(0600));
  CHECK(faults(folder.file("other.db")) == names{"format"});
  std::ofstream(folder.file("nonsense.db")) << std::string(5000, 'x');
  fs::permissions(folder.file("nonsense.db"), fs::perms(0600));
  CHECK(faults(folder.file("nonsense.db")) == names{"format"});
}

TEST_CASE("a file and a folder that others may write are found") {
  const checked_database database;
  fs::permissions(database.path, fs::perms(0666));
  const names found = faults(database.path);
  CHECK(std::ranges::count(found, "permissions") == 1);
  fs::permissions(database.path, fs::perms(0600));
  fs::permissions(database.folder.path(), fs::perms(0777));
  CHECK(std::ranges::count(faults(database.path), "permissions") == 1);
  // What no program would use is not good, sticky or not.
  fs::permissions(database.folder.path(), fs::perms(01777));
  CHECK(std::ranges::count(faults(database.path), "permissions") == 1);
}

}  // namespace database_check_test
