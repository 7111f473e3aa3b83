// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_table.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/identity_column.hpp"
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

std::string drift_of(opened_database& database, const function_identity& function) {
  try {
    function_table::open(*database.opened, function);
  } catch (const tune::schema_drift_error& drift) {
    return drift.what();
  }
  return {};
}

TEST_CASE("a table made with other fields is refused, and each column is named") {
  opened_database database;
  const auto made = database.create(sample_function("f", 4));
  CHECK(drift_of(database, sample_function("f", 4)).empty());
  function_identity changed = sample_function("f", 4);
  changed.key_fields[0].type = value_type::int64;
  changed.key_fields[1].optional = true;
  changed.value_fields = {{"vector", value_type::boolean}};
  const std::string text = drift_of(database, changed);
  for (const char* part :
       {"arg_rows was int32 and is int64", "arg_type was dtype and is dtype optional",
        "value_wgs is gone", "value_vector is new", "'f', version 4", "raise the version"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  }
  CHECK(text.find(database.folder.file("tuning.db")) != std::string::npos);
}

TEST_CASE("columns are described in the order of their names") {
  function_identity function = sample_function();
  function.key_fields = {{"type", value_type::element_type}, {"rows", value_type::uint64, true}};
  CHECK(tune::detail::describe_columns(function) ==
        "arg_rows uint64 optional\narg_type dtype\nvalue_wgs int32\n");
}

TEST_CASE("a table has columns for the fields, keyed by arguments and device") {
  opened_database database;
  function_identity function = sample_function("f.autotune", 3);
  function.key_fields[1].optional = true;
  function.value_fields.push_back({"pad", value_type::int32, true});
  const auto table = database.create(function);
  std::string declared;
  std::string key;
  for (const tune::identity_column& column : tune::identity_columns()) {
    declared += "  " + tune::identity_column_sql(column) + ",\n";
    key += ", \"" + std::string(column.name) + '"';
  }
  CHECK(database.opened->database()
            .execAndGet("SELECT sql FROM sqlite_schema WHERE name = 'f.autotune__3'")
            .getString() ==
        "CREATE TABLE \"f.autotune__3\" (\n"
        "  \"arg_rows\" INTEGER NOT NULL,\n"
        "  \"arg_type\" ANY NOT NULL,\n" +
            declared +
            "  \"value_wgs\" INTEGER NOT NULL,\n"
            "  \"value_pad\" INTEGER,\n"
            "  \"score_ns\" REAL CHECK (\"score_ns\" > 0 AND \"score_ns\" "
            "< 9e999),\n"
            "  \"tuned_at\" TEXT NOT NULL,\n"
            "  \"checksum\" BLOB NOT NULL,\n"
            "  PRIMARY KEY (\"arg_rows\", \"arg_type\"" +
            key +
            ")\n"
            ") STRICT, WITHOUT ROWID");
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
