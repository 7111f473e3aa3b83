// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "libtune/store/database/identity_column.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_test {

namespace fs = std::filesystem;
using tune::device_identity;
using tune::function_identity;
using tune::match_grade;
using tune::match_mode;
using tune::named_value;
using tune::record_key;
using tune::tuning_database;
using tune::value;
using tune::value_type;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;
using strings = std::vector<std::string>;

SQLite::Database look_into(const tuning_database& database) {
  return SQLite::Database(database.path(), SQLite::OPEN_READWRITE);
}

std::string query(const tuning_database& database, const std::string& sql) {
  return look_into(database).execAndGet(sql).getString();
}

TEST_CASE("a result is found again, also after the database was opened anew") {
  const temporary_folder folder;
  {
    tuning_database database(folder.file("tuning.db"));
    database.store(sample_function(), sample_key(), sample_tuning(128), 1500);
    CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(128));
  }
  tuning_database database(folder.file("tuning.db"));
  const auto found = database.find(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(128));
  CHECK(found->grade == match_grade::exact);
  CHECK(found->device == sample_device());
  CHECK(found->relaxed.empty());
  CHECK(found->score_ns == 1500);
}

TEST_CASE("a result that was not measured has no score") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function("f"), sample_key(), sample_tuning(128), std::nullopt);
  const auto found = database.find(sample_function("f"), sample_key());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(128));
  CHECK_FALSE(found->score_ns);
  CHECK(query(database, "SELECT score_ns IS NULL FROM f__0") == "1");
}

TEST_CASE("storing again replaces the result") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function("f"), sample_key(), sample_tuning(128), 1500);
  database.store(sample_function("f"), sample_key(), sample_tuning(64), 1200);
  CHECK(database.find(sample_function("f"), sample_key())->values == sample_tuning(64));
  CHECK(query(database, "SELECT count(*) FROM f__0") == "1");
}

TEST_CASE("of two that tuned the same key, the second is told what the first has stored") {
  const temporary_folder folder;
  tuning_database first(folder.file("tuning.db"));
  tuning_database second(folder.file("tuning.db"));
  const auto kept = first.store_first(sample_function(), sample_key(), sample_tuning(1), 10);
  CHECK(kept.values == sample_tuning(1));
  CHECK(kept.score_ns == 10);
  const auto adopted = second.store_first(sample_function(), sample_key(), sample_tuning(2), 5);
  CHECK(adopted.values == sample_tuning(1));
  CHECK(adopted.score_ns == 10);
  CHECK(adopted.grade == tune::match_grade::exact);
  CHECK(second.find(sample_function(), sample_key())->values == sample_tuning(1));
  CHECK(second.store_first(sample_function(), sample_key(65), sample_tuning(3), 5).values ==
        sample_tuning(3));
  second.store(sample_function(), sample_key(), sample_tuning(4), 5);
  CHECK(first.find(sample_function(), sample_key())->values == sample_tuning(4));
}

TEST_CASE("a miss creates nothing") {
  const temporary_folder folder;
  const std::string path = folder.file("deeper/tuning.db");
  tuning_database database(path);
  CHECK_FALSE(database.find(sample_function(), sample_key(), match_mode::nearest));
  CHECK_FALSE(database.latest_search(sample_function(), sample_key()));
  CHECK(database.trials(sample_function(), sample_key()).empty());
  CHECK(fs::is_empty(folder.path()));

  // The same in a database that lacks only the table.
  database.store(sample_function("a"), sample_key(), sample_tuning(1), 1);
  const std::string tables = query(database, "SELECT group_concat(name) FROM sqlite_schema");
  CHECK_FALSE(database.find(sample_function("b"), sample_key(), match_mode::nearest));
  CHECK_FALSE(database.find(sample_function("a", 1), sample_key()));
  CHECK(query(database, "SELECT group_concat(name) FROM sqlite_schema") == tables);
}

TEST_CASE("an empty file is a miss, and becomes a database with the first result") {
  const temporary_folder folder;
  std::ofstream(folder.file("tuning.db")).flush();
  tuning_database database(folder.file("tuning.db"));
  CHECK_FALSE(database.find(sample_function(), sample_key()));
  CHECK(fs::file_size(folder.file("tuning.db")) == 0);
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(database.find(sample_function(), sample_key()));
}

TEST_CASE("a person finds a table of the function's name with a column for each field") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(), sample_tuning(128), 1500);
  SQLite::Database opened = look_into(database);
  SQLite::Statement select(opened, "SELECT * FROM \"multiply_template.autotune__0\"");
  REQUIRE(select.executeStep());
  strings names;
  strings values;
  for (int i = 0; i < select.getColumnCount(); ++i) {
    names.emplace_back(select.getColumnName(i));
    values.push_back(select.getColumn(i).getString());
  }
  strings expected{"arg_rows", "arg_type"};
  for (const auto& column : tune::identity_columns()) expected.emplace_back(column.name);
  for (const char* name : {"value_wgs", "score_ns", "tuned_at", "checksum"}) {
    expected.emplace_back(name);
  }
  CHECK(names == expected);
  CHECK(values.back().size() == 16);
  values.pop_back();
  CHECK(values.back().size() == 20);
  values.pop_back();
  // What is not known of the device is empty or zero.
  std::erase(values, "");
  std::erase(values, "0");
  CHECK(values == strings{"64", "float32", "GPU One", "Some Platform", "535.104", "128", "1500.0"});
  CHECK(query(database, "SELECT name || ' ' || version FROM libtune_function") ==
        "multiply_template.autotune 0");
  CHECK(query(database, "SELECT columns FROM libtune_function") ==
        "arg_rows int32\narg_type dtype\nvalue_wgs int32\n");
}

TEST_CASE("hostile strings are data, whichever field they are in") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  function_identity function{.name = "f",
                             .key_fields = {{"text", value_type::string}},
                             .value_fields = {{"text", value_type::string}}};
  database.store(function, {{{"text", std::string("first")}}, sample_device()},
                 {{"text", std::string("first")}}, 1);
  const std::string schema = query(database, "SELECT group_concat(sql, ';') FROM sqlite_schema");
  const std::vector<std::string> hostile{"'; DROP TABLE f__0; --",
                                         "\"; DROP TABLE f__0; --",
                                         "]; DROP TABLE f__0",
                                         "`",
                                         "?1 $a :b @c",
                                         std::string("\0; DROP TABLE f__0", 19),
                                         "\xff\xfe\xfd",
                                         "%s%n{}",
                                         std::string(1 << 20, '\'')};
  for (const std::string& text : hostile) {
    const record_key key{{{"text", text}}, {text, text, text}};
    database.store(function, key, {{"text", text}}, 1);
    const auto found = database.find(function, key);
    REQUIRE(found);
    CHECK(found->values == std::vector<named_value>{{"text", text}});
    CHECK(found->device == key.device);
  }
  CHECK(query(database, "SELECT group_concat(sql, ';') FROM sqlite_schema") == schema);
  CHECK(query(database, "SELECT count(*) FROM f__0") == std::to_string(hostile.size() + 1));
}

TEST_CASE("an exact search takes no other device's result, a nearest one says whose it took") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const device_identity other_name{"GPU Two", "Some Platform", "535.104"};
  const device_identity other_platform{"GPU One", "Other Platform", "535.104"};
  const device_identity other_version{"GPU One", "Some Platform", "12"};
  const auto check = [&](const device_identity& device, std::int64_t wgs, const strings& relaxed) {
    database.store(sample_function(), sample_key(64, device), sample_tuning(wgs), 1);
    CHECK_FALSE(database.find(sample_function(), sample_key()));
    const auto found = database.find(sample_function(), sample_key(), match_mode::nearest);
    REQUIRE(found);
    CHECK(found->device == device);
    CHECK(found->values == sample_tuning(wgs));
    CHECK(found->grade == match_grade::nearest);
    CHECK(found->relaxed == relaxed);
  };
  CHECK_FALSE(database.find(sample_function(), sample_key(), match_mode::nearest));
  check(other_name, 1, {"device_name"});
  check(other_platform, 2, {"device_platform"});
  check(other_version, 3, {"device_version"});
  // The arguments are never relaxed.
  CHECK_FALSE(database.find(sample_function(), sample_key(65), match_mode::nearest));

  database.store(sample_function(), sample_key(), sample_tuning(4), 1);
  const auto found = database.find(sample_function(), sample_key(), match_mode::nearest);
  CHECK(found->grade == match_grade::exact);
  CHECK(found->values == sample_tuning(4));
  CHECK(found->relaxed.empty());
}

TEST_CASE("functions without key fields or without tuning fields have results too") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const function_identity function{.name = "bare"};
  const record_key key{{}, sample_device()};
  CHECK_FALSE(database.find(function, key));
  database.store(function, key, {}, 2);
  CHECK(database.find(function, key)->values.empty());
  CHECK(database.find(function, {{}, {"other", "", ""}}, match_mode::nearest)->score_ns == 2);
}

TEST_CASE("names that SQLite would take for something else are files") {
  const temporary_folder folder;
  for (const char* name :
       {":memory:", "file:x?mode=memory", "a%20b", "a?b#c", "a\nb", "gr\xc3\xbc\xc3\x9f", "'"}) {
    CAPTURE(name);
    tuning_database database(folder.file(name));
    database.store(sample_function(), sample_key(), sample_tuning(1), 1);
    CHECK(fs::file_size(folder.path() / name) > 0);
    CHECK(tuning_database(folder.file(name)).find(sample_function(), sample_key()));
  }
}

TEST_CASE("every trial of a search is kept as it is made") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const tune::search_id search = database.begin_search(sample_function(), sample_key());
  const tune::stored_trial slow{.configuration = sample_tuning(32),
                                .outcome = "measured",
                                .samples_ns = {10.5, 11},
                                .score_ns = 10.75};
  const tune::stored_trial refused{.configuration = sample_tuning(4096),
                                   .outcome = "over a device limit",
                                   .message = "1024 work items at most"};
  database.add_trial(search, slow);
  tuning_database other(folder.file("tuning.db"));
  CHECK(other.trials(sample_function(), sample_key()) == std::vector{slow});
  database.add_trial(search, refused);
  CHECK_FALSE(other.latest_search(sample_function(), sample_key())->finished_at);
  database.finish_search(search, "found");
  const auto found = other.latest_search(sample_function(), sample_key());
  REQUIRE(found);
  CHECK(found->trials == std::vector{slow, refused});
  CHECK(found->finished_at);
  CHECK(found->result == "found");
  // A search is no result.
  CHECK_FALSE(other.find(sample_function(), sample_key(), match_mode::nearest));
}

TEST_CASE("a relative path means the folder that was current when the object was made") {
  const temporary_folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  tuning_database database("tuning.db");
  fs::current_path(before);
  database.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(fs::exists(folder.path() / "tuning.db"));
}

}  // namespace tuning_database_test
