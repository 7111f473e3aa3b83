// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The highest rates of devices, which a database keeps beside its results.
#include <SQLiteCpp/SQLiteCpp.h>
#include <cmath>
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_check.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace peak_table_test {

using namespace tune::testing;
using tune::peak_identity;
using tune::tuning_database;

const peak_identity memory{sample_device(), "0.1.0", "memory"};

struct own_database {
  temporary_folder folder;
  std::string path = folder.file("tuning.db");

  void change(const std::string& sql) const {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
  }
  std::string checksums() const {
    for (const auto& finding : tune::check_database(path)) {
      if (finding.subject == "checksums") return finding.text;
    }
    return {};
  }
};

TEST_CASE_FIXTURE(own_database, "a peak is found for its device, driver, libtune and kind alone") {
  tuning_database database(path);
  CHECK_FALSE(database.find_peak(memory));
  database.store(sample_function(), sample_key(), sample_tuning(64), 10);
  CHECK_FALSE(database.find_peak(memory));  // no table yet
  database.store_peak(memory, 4e12);
  CHECK(database.find_peak(memory) == 4e12);
  CHECK(tuning_database(path).find_peak(memory) == 4e12);
  peak_identity other = memory;
  other.device.driver_version = "550.54";
  CHECK_FALSE(database.find_peak(other));
  other = memory;
  other.library_version = "0.2.0";
  CHECK_FALSE(database.find_peak(other));
  other = memory;
  other.kind = "float32";
  CHECK_FALSE(database.find_peak(other));
  database.store_peak(other, 6e13);
  CHECK(database.find_peak(memory) == 4e12);
  CHECK(database.find_peak(other) == 6e13);
}

TEST_CASE_FIXTURE(own_database, "the higher one of two peaks is kept") {
  tuning_database database(path);
  for (const double rate : {2e9, 1e9, 3e9}) database.store_peak(memory, rate);
  CHECK(database.find_peak(memory) == 3e9);
  for (const double none : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    CHECK_THROWS_AS(database.store_peak(memory, none), tune::argument_error);
  }
}

TEST_CASE_FIXTURE(own_database, "a peak that was changed by hand counts as missing") {
  tuning_database(path).store_peak(memory, 1e9);
  CHECK(checksums() == "0 results and 0 searches are intact");
  change("UPDATE libtune_peak SET rate = 1e15");
  captured_errors errors;
  CHECK_FALSE(tuning_database(path).find_peak(memory));
  CHECK(errors.count("'libtune_peak' is damaged") == 1);
  CHECK(checksums() == "1 rows are damaged; they count as not there");
  tuning_database(path).store_peak(memory, 2e9);
  CHECK(tuning_database(path).find_peak(memory) == 2e9);
}

TEST_CASE_FIXTURE(own_database, "a database that is only read keeps no peak") {
  tuning_database database(path, {}, tune::database_access::read_only);
  CHECK_FALSE(database.find_peak(memory));
  CHECK_THROWS_AS(database.store_peak(memory, 1e9), tune::database_error);
}

TEST_CASE_FIXTURE(own_database,
                  "merging and pruning leave the peaks of each database as they are") {
  tuning_database(path).store_peak(memory, 1e9);
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(64), 10);
  const std::string other = folder.file("other.db");
  tuning_database(other).store_peak({sample_device(), "0.1.0", "int32"}, 5e9);
  tuning_database(other).store(sample_function("other"), sample_key(), sample_tuning(8), 20);
  const tune::merge_report report =
      tune::merge_content(path, tune::database_reader(other).read_all());
  CHECK(report.results_added == 1);
  CHECK(report.left == 0);
  CHECK(tuning_database(path).find_peak(memory) == 1e9);
  CHECK_FALSE(tuning_database(path).find_peak({sample_device(), "0.1.0", "int32"}));
  tune::prune_database(path, {.before = "9999-01-01"});
  CHECK(tuning_database(path).find_peak(memory) == 1e9);
}

}  // namespace peak_table_test
