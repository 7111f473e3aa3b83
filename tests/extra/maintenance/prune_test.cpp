// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/prune.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <clocale>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_check.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace prune_test {

namespace fs = std::filesystem;
using namespace tune::testing;
using namespace tune;
using names = std::vector<std::string>;

/// Two functions with a result each, and a search of the first for a key without a result.
void fill(const std::string& path) {
  tuning_database database(path);
  for (const std::int64_t rows : {64, 128}) {
    const auto search = database.begin_search(sample_function(), sample_key(rows));
    database.add_trial(search, {.configuration = sample_tuning(64), .outcome = "compile failed"});
  }
  database.store(sample_function(), sample_key(64), sample_tuning(64), 10);
  tune::device_identity other = sample_device();
  other.name = "GPU Two";
  database.store(sample_function("other"), sample_key(64, other), sample_tuning(64), 10);
}

/// A database with what fill() puts there.
struct two_functions {
  two_functions() { fill(path); }

  temporary_folder folder;
  std::string path = folder.file("db");
};

TEST_CASE_FIXTURE(two_functions, "searches without a result are removed, their trials with them") {
  const prune_report report = prune_database(path, {.orphans = true});
  CHECK(report.results == 0);
  CHECK(report.searches == 1);
  const auto functions = database_reader(path).functions();
  CHECK(functions[0].searches == 1);
  CHECK(functions[0].trials == 1);
}

TEST_CASE_FIXTURE(two_functions, "a device, an age and a function are removed each") {
  CHECK(prune_database(path, {.before = "2020-01-01"}).results == 0);
  CHECK(prune_database(path, {.device = "GPU Two"}).results == 1);
  CHECK(prune_database(path, {.before = "9999-01-01"}).searches == 2);
  const prune_report report = prune_database(path, {.function = sample_function().name});
  CHECK(report.functions == 1);
  CHECK(database_reader(path).functions().size() == 1);
  // Its name and version are free for other fields now.
  auto changed = sample_function();
  changed.key_fields[0].type = tune::value_type::int64;
  CHECK_NOTHROW(tuning_database(path).store(changed, sample_key(), sample_tuning(1), std::nullopt));
}

TEST_CASE("a date is a day of the calendar, with or without a time") {
  CHECK(tune::utc_date("2024-02-29") == "2024-02-29T00:00:00Z");
  CHECK(tune::utc_date("2024-02-29T23:59") == "2024-02-29T23:59:00Z");
  CHECK(tune::utc_date("2024-02-29 23:59:58Z") == "2024-02-29T23:59:58Z");
  CHECK(tune::utc_date("2024-02-29T01:02Z") == "2024-02-29T01:02:00Z");
  for (const char* text :
       {"", "now", "yesterday", "2023-02-29", "2024-1-1", "2024-01-32", "2024-01-01T", "20240101",
        "2024-01-01T24:00", "2024-01-01T12", "2024-01-01T12:00:60", "2024-01-01T12:00:00+02:00"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(tune::utc_date(text), tune::argument_error);
  }
  const temporary_folder folder;
  CHECK_THROWS_AS(prune_database(folder.file("db"), {.before = "tomorrow"}), tune::argument_error);
}

TEST_CASE_FIXTURE(two_functions, "a row whose date is none is not older than anything") {
  for (const char* text : {"", "some day", "5", "12:00", "now", "2024"}) {
    CAPTURE(text);
    SQLite::Database(path, SQLite::OPEN_READWRITE)
        .exec("UPDATE \"" + table_name(sample_function()) + "\" SET tuned_at = '" + text + "'");
    CHECK(prune_database(path, {.before = "9999-01-01", .dry_run = true}).results == 1);
  }
}

TEST_CASE_FIXTURE(two_functions, "what goes and what stays is told for each function") {
  const prune_report report = prune_database(path, {.function = "other", .dry_run = true});
  REQUIRE(report.of.size() == 1);
  CHECK(report.of[0].name == "other");
  CHECK(report.of[0].results == 1);
  CHECK(report.of[0].forgotten);
  CHECK(report.results_kept == 1);
  CHECK(report.searches_kept == 2);
  CHECK_FALSE(report.removes_most());
  CHECK(prune_database(path, {.before = "9999-01-01", .dry_run = true}).removes_most());
}

TEST_CASE_FIXTURE(
    two_functions,
    "a program that runs goes on when its function is pruned, and made anew by another") {
  tuning_database running(path);
  REQUIRE(running.find(sample_function(), sample_key(64)));
  REQUIRE(prune_database(path, {.function = sample_function().name}).functions == 1);
  CHECK_FALSE(running.find(sample_function(), sample_key(64)));
  CHECK(running.find_nearest(sample_function(), sample_key(64), 5).empty());
  CHECK_FALSE(running.latest_search(sample_function(), sample_key(64)));
  const auto search = running.begin_search(sample_function(), sample_key(64));
  CHECK_NOTHROW(running.add_trial(
      search, {.configuration = sample_tuning(8), .outcome = "measured", .score_ns = 5}));
  running.store(sample_function(), sample_key(64), sample_tuning(8), 5);
  CHECK(running.find(sample_function(), sample_key(64))->values == sample_tuning(8));

  // Another program has raised no version: the first notices, and stores nothing that is wrong.
  REQUIRE(prune_database(path, {.function = sample_function().name}).functions == 1);
  auto changed = sample_function();
  changed.key_fields[0].type = tune::value_type::int64;
  tuning_database(path).store(changed, sample_key(), sample_tuning(1), std::nullopt);
  CHECK_THROWS_AS(static_cast<void>(running.find(sample_function(), sample_key(64))),
                  tune::schema_drift_error);
  CHECK_THROWS_AS(running.store(sample_function(), sample_key(64), sample_tuning(8), 5),
                  tune::schema_drift_error);
}

TEST_CASE_FIXTURE(two_functions,
                  "a dry run counts and changes nothing; nothing at all is refused") {
  const std::string before = canonical_text(database_reader(path).read_all());
  CHECK(prune_database(path, {.before = "9999-01-01", .dry_run = true}).results == 2);
  CHECK(canonical_text(database_reader(path).read_all()) == before);
  CHECK_THROWS_AS(prune_database(path, {}), tune::argument_error);
}

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

TEST_CASE_FIXTURE(checked_database,
                  "a sound database has no fault, and is not changed by the check") {
  const std::string before = content_of(path);
  CHECK(faults(path).empty());
  CHECK(text_of(path, "checksums") == "1 results and 1 searches are intact");
  CHECK(content_of(path) == before);
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

TEST_CASE_FIXTURE(checked_database, "rows that were changed by hand are counted") {
  change("UPDATE f__0 SET value_wgs = 2; UPDATE libtune_trial SET outcome = 'skipped'");
  CHECK(faults(path) == names{"checksums"});
  CHECK(text_of(path, "checksums").starts_with("2 rows"));
}

TEST_CASE_FIXTURE(checked_database, "trials without a search are found") {
  change("PRAGMA foreign_keys = OFF; DELETE FROM libtune_search");
  const names found = faults(path);
  CHECK(std::ranges::count(found, "references") == 1);
}

TEST_CASE_FIXTURE(checked_database, "a page that makes no sense is found") {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(std::streamoff{3} * 4096);
  file << std::string(4096, '\x5A');
  file.close();
  CHECK_FALSE(faults(path).empty());
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

TEST_CASE_FIXTURE(checked_database, "a file and a folder that others may write are found") {
  fs::permissions(path, fs::perms(0666));
  const names found = faults(path);
  CHECK(std::ranges::count(found, "permissions") == 1);
  fs::permissions(path, fs::perms(0600));
  fs::permissions(folder.path(), fs::perms(0777));
  CHECK(std::ranges::count(faults(path), "permissions") == 1);
  // What no program would use is not good, sticky or not.
  fs::permissions(folder.path(), fs::perms(01777));
  CHECK(std::ranges::count(faults(path), "permissions") == 1);
}

}  // namespace prune_test
