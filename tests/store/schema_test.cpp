// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/schema.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/row_checksum.hpp"
#include "tests/store/samples.hpp"

namespace schema_test {

using tune::function_identity;
using tune::value_type;
using tune::detail::describe_columns;
using tune::detail::describe_drift;
using tune::testing::sample_function;

/// The names of a device's columns, quoted, with something between and after them.
std::string device_columns(const std::string& between, const std::string& after = "") {
  std::string text;
  for (const tune::identity_column& column : tune::identity_columns()) {
    text += (text.empty() ? "" : between) + '"' + column.name + '"' + after;
  }
  return text;
}

TEST_CASE("a function's table has columns for its fields, keyed by arguments and device") {
  std::string declared;
  for (const tune::identity_column& column : tune::identity_columns()) {
    declared += "  " + tune::identity_column_sql(column) + ",\n";
  }
  CHECK(tune::detail::create_table_sql(sample_function("f.autotune", 3)) ==
        "CREATE TABLE IF NOT EXISTS \"f.autotune__3\" (\n"
        "  \"arg_rows\" INTEGER NOT NULL,\n"
        "  \"arg_type\" TEXT NOT NULL,\n" +
            declared +
            "  \"value_wgs\" INTEGER NOT NULL,\n"
            "  \"score_ns\" REAL CHECK (\"score_ns\" > 0 AND \"score_ns\" < 9e999),\n"
            "  \"tuned_at\" TEXT NOT NULL,\n"
            "  \"checksum\" BLOB NOT NULL,\n"
            "  PRIMARY KEY (\"arg_rows\", \"arg_type\", " +
            device_columns(", ") +
            ")\n"
            ") STRICT, WITHOUT ROWID");
}

TEST_CASE("an empty optional is NULL in the tuning and has a place in the key") {
  function_identity function = sample_function();
  function.key_fields = {{"pad", value_type::int32, true}};
  function.value_fields = {{"pad", value_type::int32, true}};
  const std::string sql = tune::detail::create_table_sql(function);
  CHECK(sql.find("\"arg_pad\" ANY NOT NULL") != std::string::npos);
  CHECK(sql.find("\"value_pad\" INTEGER,") != std::string::npos);
}

TEST_CASE("values are bound, never written into a statement") {
  std::vector<std::string> columns{"arg_rows", "arg_type", "score_ns", "tuned_at", "value_wgs"};
  for (const auto& column : tune::identity_columns()) columns.emplace_back(column.name);
  const std::string intact = tune::detail::is_intact("f__0", columns);
  CHECK(tune::detail::find_sql(sample_function("f")) ==
        "SELECT \"score_ns\", \"value_wgs\", " + intact +
            " FROM \"f__0\" WHERE \"arg_rows\" = ? AND \"arg_type\" = ? AND " +
            device_columns(" AND ", " = ?"));
  CHECK(tune::detail::devices_sql(sample_function("f")) ==
        "SELECT " + device_columns(", ") +
            " FROM \"f__0\" WHERE \"arg_rows\" = ? AND \"arg_type\" = ? AND " + intact);
  const std::string store = tune::detail::store_sql(sample_function("f"));
  CHECK(store.starts_with("INSERT OR REPLACE INTO \"f__0\" (\"arg_rows\", \"arg_type\", " +
                          device_columns(", ") +
                          ", \"score_ns\", \"value_wgs\", \"tuned_at\", \"checksum\") VALUES (?1, "
                          "?2, "));
  CHECK(store.find("?24, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), libtune_checksum(") !=
        std::string::npos);
}

TEST_CASE("a key without fields is told apart by the device alone") {
  function_identity function = sample_function("f");
  function.key_fields.clear();
  CHECK(tune::detail::devices_sql(function).starts_with("SELECT " + device_columns(", ") +
                                                        " FROM \"f__0\" WHERE checksum IS "));
}

TEST_CASE("columns are described in the order of their names") {
  function_identity function = sample_function();
  function.key_fields = {{"type", value_type::element_type}, {"rows", value_type::uint64, true}};
  CHECK(describe_columns(function) ==
        "arg_rows uint64 optional\narg_type dtype\nvalue_wgs int32\n");
}

TEST_CASE("drift names each column that came, went or changed") {
  CHECK(describe_drift("arg_a int32\nvalue_b bool\n", "arg_a int32\nvalue_b bool\n").empty());
  CHECK(describe_drift("arg_a int32\nvalue_b bool\n", "arg_a int64\nvalue_c bool\n") ==
        "arg_a was int32 and is int64, value_b is gone, value_c is new");
  CHECK(describe_drift("arg_a int32\n", "arg_a int32 optional\n") ==
        "arg_a was int32 and is int32 optional");
  CHECK(describe_drift("", "arg_a int32\n") == "arg_a is new");
}

}  // namespace schema_test
