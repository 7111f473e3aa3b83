// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/column.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <sqlite3.h>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace column_test {

using tune::field_description;
using tune::value;
using tune::value_type;

bool same(const value& a, const value& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return (std::isnan(*x) && std::isnan(*y)) || std::memcmp(x, y, sizeof *x) == 0;
}

struct column_case {
  value_type type;
  std::vector<value> values;
};

template <class Integer>
std::vector<value> limits_as_signed() {
  using limits = std::numeric_limits<Integer>;
  return {std::int64_t{limits::min()}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
          std::int64_t{limits::max()}};
}

template <class Integer>
std::vector<value> limits_as_unsigned() {
  return {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{std::numeric_limits<Integer>::max()}};
}

std::vector<column_case> all_cases() {
  using doubles = std::numeric_limits<double>;
  using floats = std::numeric_limits<float>;
  const std::uint64_t half = std::uint64_t{1} << 63;
  return {
      {value_type::boolean, {true, false}},
      {value_type::int8, limits_as_signed<std::int8_t>()},
      {value_type::uint8, limits_as_unsigned<std::uint8_t>()},
      {value_type::int16, limits_as_signed<std::int16_t>()},
      {value_type::uint16, limits_as_unsigned<std::uint16_t>()},
      {value_type::int32, limits_as_signed<std::int32_t>()},
      {value_type::uint32, limits_as_unsigned<std::uint32_t>()},
      {value_type::int64, limits_as_signed<std::int64_t>()},
      {value_type::uint64,
       {std::uint64_t{0}, std::uint64_t{1}, half - 1, half, half + 1,
        std::numeric_limits<std::uint64_t>::max()}},
      {value_type::float32,
       {0.0, -0.0, double{0.1F}, double{floats::max()}, double{floats::denorm_min()},
        doubles::infinity(), -doubles::infinity()}},
      {value_type::float64,
       {0.0, -0.0, 1.0, -1.0, 0.1, doubles::max(), doubles::lowest(), doubles::min(),
        doubles::denorm_min(), doubles::epsilon(), doubles::infinity(), -doubles::infinity(),
        9007199254740993.0, 1e300}},
      {value_type::string,
       {std::string(), std::string("plain"), std::string("1"), std::string("1.0"),
        std::string("true"), std::string("nan"), std::string("-0.0"), std::string("NULL"),
        std::string("it's \"quoted\"; DROP TABLE t; --"), std::string("a\0b\0", 4),
        std::string("\0", 1), std::string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"),
        std::string("\xff\xfe\x80"), std::string(" 1"), std::string("1 "),
        std::string(1 << 20, 'x')}},
      {value_type::enumeration, {std::string("row_major")}},
      {value_type::element_type, {std::string("float32")}},
  };
}

/// A function with this type, present and optional, in its key and its tuning.
tune::function_identity function_of(value_type type) {
  const std::vector<tune::field_description> fields{{"a", type}, {"b", type, true}};
  return {.name = "f_" + std::string(tune::value_type_name(type)),
          .key_fields = fields,
          .value_fields = fields};
}

TEST_CASE("every value of every type makes the round trip in key and tuning, each key its own") {
  const tune::testing::temporary_folder folder;
  tune::tuning_database database(folder.file("tuning.db"));
  for (const column_case& c : all_cases()) {
    CAPTURE(tune::value_type_name(c.type));
    const tune::function_identity function = function_of(c.type);
    std::vector<value> optional = c.values;
    optional.emplace_back();
    for (const value& b : optional) {
      const std::vector<tune::named_value> fields{{"a", c.values.front()}, {"b", b}};
      const tune::record_key key{.arguments = fields, .device = tune::testing::sample_device()};
      CHECK_FALSE(database.find(function, key));
      database.store(function, key, {{"a", c.values.back()}, {"b", b}}, 1);
      const auto found = database.find(function, key);
      REQUIRE(found);
      CHECK(same(found->values[0].value, c.values.back()));
      CHECK(same(found->values[1].value, b));
    }
  }
}

TEST_CASE("an empty optional key is one row, and NaN comes back from a tuning") {
  const tune::testing::temporary_folder folder;
  tune::tuning_database database(folder.file("tuning.db"));
  const tune::function_identity function = function_of(value_type::float64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double a : {1.0, nan}) {
    database.store(function, {{{"a", 0.5}, {"b", value()}}, tune::testing::sample_device()},
                   {{"a", a}, {"b", value()}}, 1);
  }
  SQLite::Database file(database.path());
  CHECK(file.execAndGet("SELECT count(*) FROM f_float64__0").getInt() == 1);
  const auto found =
      database.find(function, {{{"a", 0.5}, {"b", value()}}, tune::testing::sample_device()});
  CHECK(std::isnan(std::get<double>(found->values[0].value)));
}

TEST_CASE("a person reads what they would write") {
  const auto text_of = [](value_type type, const value& v) {
    const tune::testing::temporary_folder folder;
    tune::tuning_database database(folder.file("tuning.db"));
    const tune::function_identity function{.name = "f", .value_fields = {{"c", type}}};
    database.store(function, {{}, tune::testing::sample_device()}, {{"c", v}}, 1);
    return SQLite::Database(database.path())
        .execAndGet("SELECT CAST(value_c AS TEXT) FROM f__0")
        .getString();
  };
  CHECK(text_of(value_type::boolean, true) == "1");
  CHECK(text_of(value_type::int32, std::int64_t{-5}) == "-5");
  CHECK(text_of(value_type::uint64, std::numeric_limits<std::uint64_t>::max()) ==
        "18446744073709551615");
  CHECK(text_of(value_type::float64, 0.25) == "0.25");
  CHECK(text_of(value_type::float64, -0.0) == "-0.0");
  CHECK(text_of(value_type::element_type, std::string("float32")) == "float32");
}

TEST_CASE("a column that holds something else is an error, not another value") {
  const auto refused = [](const field_description& field, const char* sql) {
    SQLite::Database database(":memory:");
    SQLite::Statement select(database, sql);
    REQUIRE(select.executeStep());
    try {
      tune::detail::read_field(select.getColumn(0), field);
      return false;
    } catch (const SQLite::Exception& failure) {
      CHECK(std::string(failure.what()).find("value_x") != std::string::npos);
      return failure.getErrorCode() == SQLITE_MISMATCH;
    }
  };
  CHECK(refused({"x", value_type::boolean}, "SELECT 2 AS value_x"));
  CHECK(refused({"x", value_type::int8}, "SELECT 128 AS value_x"));
  CHECK(refused({"x", value_type::int32}, "SELECT '1' AS value_x"));
  CHECK(refused({"x", value_type::uint32}, "SELECT -1 AS value_x"));
  CHECK(refused({"x", value_type::uint64}, "SELECT '5' AS value_x"));
  CHECK(refused({"x", value_type::uint64}, "SELECT '18446744073709551616' AS value_x"));
  CHECK(refused({"x", value_type::uint64}, "SELECT '9223372036854775808 ' AS value_x"));
  CHECK(refused({"x", value_type::float64}, "SELECT '0.5' AS value_x"));
  CHECK(refused({"x", value_type::string}, "SELECT 1 AS value_x"));
  CHECK(refused({"x", value_type::string}, "SELECT x'00' AS value_x"));
  CHECK(refused({"x", value_type::int32}, "SELECT NULL AS value_x"));
}

}  // namespace column_test
