// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_table.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <set>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace function_table_test {

using namespace std::chrono_literals;
using tune::function_identity;
using tune::value_type;
using tune::detail::connection;
using tune::detail::function_table;
using tune::detail::write_transaction;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

struct opened_database {
  opened_database() {
    tune::detail::create_private_file(folder.file("tuning.db"));
    opened = std::make_unique<connection>(folder.file("tuning.db"), 1s, 1s);
  }

  std::unique_ptr<function_table> create(const function_identity& function) {
    write_transaction transaction(*opened, 1s);
    auto table = function_table::create(*opened, function);
    transaction.commit();
    return table;
  }

  temporary_folder folder;
  std::unique_ptr<connection> opened;
};

TEST_CASE("a table can be opened once it was made") {
  opened_database database;
  CHECK(database.create(sample_function("a")) != nullptr);
  CHECK(function_table::open(*database.opened, sample_function("a")) != nullptr);
  CHECK(function_table::open(*database.opened, sample_function("a", 1)) == nullptr);
  CHECK(function_table::open(*database.opened, sample_function("b")) == nullptr);
}

TEST_CASE("a stored row is found by its whole key and by no other") {
  opened_database database;
  const auto table = database.create(sample_function());
  table->store(sample_key(64), sample_tuning(128), 1500.0);
  const auto found = table->find(sample_key(64).arguments, sample_device());
  REQUIRE(found);
  CHECK(found->values == sample_tuning(128));
  CHECK(found->score_ns == 1500.0);
  CHECK(found->device == sample_device());
  CHECK(found->grade == tune::match_grade::exact);
  CHECK_FALSE(table->find(sample_key(65).arguments, sample_device()));
  CHECK_FALSE(table->find(sample_key(64).arguments, {"GPU One", "Some Platform", "535.105"}));
}

TEST_CASE("the devices of a key are those that have a row for it") {
  opened_database database;
  const auto table = database.create(sample_function());
  table->store(sample_key(1, {"a", "p", "1"}), sample_tuning(1), 1);
  table->store(sample_key(1, {"b", "p", "1"}), sample_tuning(1), 1);
  table->store(sample_key(2, {"c", "p", "1"}), sample_tuning(1), 1);
  std::set<std::string> names;
  for (const auto& device : table->devices(sample_key(1).arguments)) names.insert(device.name);
  CHECK(names == std::set<std::string>{"a", "b"});
}

TEST_CASE("a table made with other fields is refused, and the columns are named") {
  opened_database database;
  const auto made = database.create(sample_function("f", 4));
  function_identity changed = sample_function("f", 4);
  changed.key_fields[0].type = value_type::int64;
  changed.value_fields.push_back({"vector", value_type::boolean});
  try {
    function_table::open(*database.opened, changed);
    FAIL("opened");
  } catch (const tune::schema_drift_error& drift) {
    const std::string text = drift.what();
    CHECK(text.find("arg_rows was int32 and is int64") != std::string::npos);
    CHECK(text.find("value_vector is new") != std::string::npos);
    CHECK(text.find("'f', version 4") != std::string::npos);
    CHECK(text.find("raise the version") != std::string::npos);
    CHECK(text.find(database.folder.file("tuning.db")) != std::string::npos);
  }
}

TEST_CASE("members that changed places are no drift") {
  opened_database database;
  function_identity function = sample_function();
  const auto table = database.create(function);
  table->store(sample_key(), sample_tuning(32), 1);
  std::swap(function.key_fields[0], function.key_fields[1]);
  auto arguments = sample_key().arguments;
  std::swap(arguments[0], arguments[1]);
  const auto reopened = function_table::open(*database.opened, function);
  REQUIRE(reopened);
  CHECK(reopened->find(arguments, sample_device())->values == sample_tuning(32));
}

TEST_CASE("the table itself refuses a score that is no time") {
  opened_database database;
  const auto table = database.create(sample_function("f"));
  table->store(sample_key(), sample_tuning(32), 1);
  for (const char* score : {"0", "-1", "9e999", "-9e999", "'fast'"}) {
    CAPTURE(score);
    CHECK_THROWS_AS(
        database.opened->database().exec("UPDATE f__0 SET score_ns = " + std::string(score)),
        SQLite::Exception);
  }
}

TEST_CASE("the latest results of a device are found, and damage among them is left out") {
  opened_database database;
  const auto table = database.create(sample_function());
  tune::device_identity other = sample_device();
  other.name = "GPU Two";
  {
    write_transaction transaction(*database.opened, 1s);
    for (const std::int64_t rows : {1, 2, 3, 4}) {
      table->store(sample_key(rows), sample_tuning(rows), 1);
      table->store(sample_key(rows, other), sample_tuning(9), 1);
    }
    transaction.commit();
  }
  CHECK(table->results_of(sample_device(), 10).size() == 4);
  CHECK(table->results_of(sample_device(), 2).size() == 2);
  database.opened->database().exec("UPDATE \"" + table_name(sample_function()) +
                                   "\" SET value_wgs = 77 WHERE arg_rows = 2");
  const auto found = table->results_of(sample_device(), 10);
  CHECK(found.size() == 3);
  for (const tune::other_result& result : found) {
    CHECK(result.values.front().value == result.arguments.front().value);
  }
}

TEST_CASE(
    "a table too large to be looked through has no results of similar arguments, and no fault") {
  opened_database database;
  const auto table = database.create(sample_function());
  {
    write_transaction transaction(*database.opened, 1s);
    for (std::int64_t rows = 0; rows < 500; ++rows) {
      table->store(sample_key(rows), sample_tuning(rows), 1);
    }
    transaction.commit();
  }
  {
    const tune::detail::work_limit none(*database.opened, 0ms);
    CHECK(table->results_of(sample_device(), 10).empty());
  }
  CHECK(table->results_of(sample_device(), 10).size() == 10);
  // The table itself can be used as before.
  CHECK(table->find(sample_key(7).arguments, sample_device()));
}

}  // namespace function_table_test
