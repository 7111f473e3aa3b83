// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_failure_test {

namespace fs = std::filesystem;
using tune::argument_error;
using tune::database_error;
using tune::function_identity;
using tune::match_mode;
using tune::named_value;
using tune::record_key;
using tune::tuning_database;
using tune::value_type;
using tune::testing::captured_errors;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;
using tune::testing::without_privileges;

SQLite::Database look_into(const tuning_database& database) {
  return SQLite::Database(database.path(), SQLite::OPEN_READWRITE);
}

TEST_CASE("what can never be stored is refused before anything is created") {
  const temporary_folder folder;
  tuning_database database(folder.file("deeper/tuning.db"));
  function_identity function{.name = "f", .key_fields = {{"scale", value_type::float64}}};
  const record_key nan{{{"scale", std::numeric_limits<double>::quiet_NaN()}}, sample_device()};
  CHECK_THROWS_WITH_AS(database.store(function, nan, {}, 1), doctest::Contains("'scale'"),
                       argument_error);
  CHECK_THROWS_AS(database.find(function, nan), argument_error);
  CHECK_THROWS_AS(database.begin_search(function, nan), argument_error);
  CHECK_THROWS_AS(database.store(sample_function(), sample_key(), {{"wgs", true}}, 1),
                  tune::type_error);
  CHECK_THROWS_AS(database.store(sample_function("a b"), sample_key(), sample_tuning(1), 1),
                  argument_error);
  CHECK_THROWS_AS(database.find(sample_function("sqlite_a"), sample_key()), argument_error);
  function = sample_function();
  function.value_fields = {{"a", value_type::boolean}, {"A", value_type::boolean}};
  CHECK_THROWS_AS(database.store(function, sample_key(), {{"a", true}, {"A", true}}, 1),
                  argument_error);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("fields that changed without a new version are an error on every way in") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  function_identity changed = sample_function();
  changed.value_fields = {{"wgs", value_type::int32}, {"rows", value_type::int32}};
  const std::vector<named_value> tuning{{"wgs", std::int64_t{1}}, {"rows", std::int64_t{1}}};
  tuning_database anew(folder.file("tuning.db"));
  for (tuning_database* opened : {&database, &anew}) {
    CHECK_THROWS_WITH_AS(opened->find(changed, sample_key()),
                         doctest::Contains("value_rows is new"), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->find(changed, sample_key(), match_mode::nearest),
                    tune::schema_drift_error);
    CHECK_THROWS_AS(opened->store(changed, sample_key(), tuning, 1), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->begin_search(changed, sample_key()), tune::schema_drift_error);
    CHECK_THROWS_AS(opened->latest_search(changed, sample_key()), tune::schema_drift_error);
    CHECK(opened->find(sample_function(), sample_key()));
  }
  changed.version = 1;
  CHECK_FALSE(database.find(changed, sample_key()));
  database.store(changed, sample_key(), tuning, 1);
  CHECK(database.find(changed, sample_key())->values == tuning);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(1));
}

TEST_CASE("functions whose names differ only in case do not share results") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function("Scale"), sample_key(), sample_tuning(1), 1);
  CHECK_THROWS_WITH_AS(database.find(sample_function("scale"), sample_key()),
                       doctest::Contains("only in case"), database_error);
  CHECK_THROWS_WITH_AS(database.store(sample_function("SCALE"), sample_key(), sample_tuning(2), 1),
                       doctest::Contains("'Scale'"), database_error);
  CHECK(database.find(sample_function("Scale"), sample_key())->values == sample_tuning(1));
}

TEST_CASE("a place that cannot be written is an error that names it") {
  const temporary_folder folder;
  std::ofstream(folder.file("file")) << "text";
  tuning_database database(folder.file("file/tuning.db"));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(1), 1),
                       doctest::Contains("file/tuning.db"), database_error);
  CHECK_THROWS_AS(database.begin_search(sample_function(), sample_key()), database_error);
}

TEST_CASE("a database that may only be read is read") {
  const without_privileges ordinary;
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(), sample_tuning(7), 1);
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  tuning_database database(path);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(7));
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(8), 1),
                       doctest::Contains("writable"), database_error);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(7));
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("a file that is no database is an error, and stays as it is") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  std::ofstream(path) << std::string(5000, 'x');
  tuning_database database(path);
  CHECK_THROWS_WITH_AS(database.find(sample_function(), sample_key()),
                       doctest::Contains("move it away"), database_error);
  CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(1), 1),
                       doctest::Contains(path.c_str()), database_error);
  CHECK(fs::file_size(path) == 5000);
}

TEST_CASE("a row that was changed behind our back is no result, is told once and is replaced") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  captured_errors errors;
  for (const char* change :
       {"value_wgs = 1000", "score_ns = 2", "device_version = '535.105'", "arg_rows = 65",
        "tuned_at = ''", "checksum = x''", "checksum = randomblob(16)"}) {
    CAPTURE(change);
    database.store(sample_function("f"), sample_key(), sample_tuning(1), 1);
    REQUIRE(database.find(sample_function("f"), sample_key(), match_mode::nearest));
    look_into(database).exec("UPDATE f__0 SET " + std::string(change));
    CHECK_FALSE(database.find(sample_function("f"), sample_key(), match_mode::nearest));
    CHECK_FALSE(database.find(sample_function("f"), sample_key(65), match_mode::nearest));
    database.store(sample_function("f"), sample_key(), sample_tuning(2), 1);
    CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(2));
    look_into(database).exec("DELETE FROM f__0");
  }
  CHECK(errors.count("'f__0' is damaged") == 1);
}

TEST_CASE("a damaged row does not stand in the way of the next nearest") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const tune::device_identity close{"GPU One", "Some Platform", "535.105"};
  const tune::device_identity far{"GPU Two", "Some Platform", "1"};
  database.store(sample_function("f"), sample_key(64, close), sample_tuning(1), 1);
  database.store(sample_function("f"), sample_key(64, far), sample_tuning(2), 1);
  look_into(database).exec("UPDATE f__0 SET value_wgs = 3 WHERE device_name = 'GPU One'");
  CHECK(database.find(sample_function("f"), sample_key(), match_mode::nearest)->device == far);
}

TEST_CASE("damage to what a database says of a function costs its results no more than a warning") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function("f"), sample_key(), sample_tuning(1), 1);
  tuning_database database(path);
  look_into(database).exec("UPDATE libtune_function SET columns = 'arg_rows int64'");
  captured_errors errors;
  CHECK_FALSE(database.find(sample_function("f"), sample_key()));
  CHECK(errors.count("'libtune_function' is damaged") == 1);
  database.store(sample_function("f"), sample_key(65), sample_tuning(2), 1);
  CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(1));
  CHECK(database.find(sample_function("f"), sample_key(65))->values == sample_tuning(2));
}

TEST_CASE("a table that was removed is an error, not a crash") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function("f"), sample_key(), sample_tuning(1), 1);
  look_into(database).exec("DROP TABLE f__0");
  CHECK_THROWS_AS(database.find(sample_function("f"), sample_key()), database_error);
}

TEST_CASE("a database that others hold is an error, and never has no result") {
  const temporary_folder folder;
  using namespace std::chrono_literals;
  tuning_database database(folder.file("tuning.db"), {.read = 1ms, .write = 1ms});
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  {
    SQLite::Database other = look_into(database);
    SQLite::Transaction holder(other, SQLite::TransactionBehavior::EXCLUSIVE);
    CHECK_THROWS_AS(database.find(sample_function(), sample_key()), tune::database_busy_error);
    CHECK_THROWS_AS(database.find_nearest(sample_function(), sample_key(), 1),
                    tune::database_busy_error);
    tuning_database anew(folder.file("tuning.db"), {.read = 1ms, .write = 1ms});
    CHECK_THROWS_AS(anew.find(sample_function(), sample_key()), tune::database_busy_error);
    CHECK_THROWS_WITH_AS(database.store(sample_function(), sample_key(), sample_tuning(2), 1),
                         doctest::Contains("another process"), database_error);
    CHECK_THROWS_AS(database.latest_search(sample_function(), sample_key()), database_error);
  }
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(1));
  database.store(sample_function(), sample_key(), sample_tuning(2), 1);
}

TEST_CASE("a trial of an unknown search is an error that says so") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  CHECK_THROWS_WITH_AS(database.add_trial(tune::search_id{7}, {.outcome = "skipped"}),
                       doctest::Contains("search 7"), database_error);
  CHECK_THROWS_WITH_AS(database.finish_search(tune::search_id{7}, "found"),
                       doctest::Contains("search 7"), database_error);
}

}  // namespace tuning_database_failure_test
