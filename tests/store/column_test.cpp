// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/column.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <random>
#include <sqlite3.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace column_test {

using namespace tune::testing;
using namespace tune::detail;
using namespace tune;

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

/// A database that is not there yet, in a folder of its own.
struct own_database {
  temporary_folder folder;
  tuning_database database{folder.file("tuning.db")};
};

TEST_CASE_FIXTURE(
    own_database,
    "every value of every type makes the round trip in key and tuning, each key its own") {
  for (const column_case& c : all_cases()) {
    CAPTURE(tune::value_type_name(c.type));
    const tune::function_identity function = function_of(c.type);
    std::vector<value> optional = c.values;
    optional.emplace_back();
    for (const value& b : optional) {
      const std::vector<tune::named_value> fields{{"a", c.values.front()}, {"b", b}};
      const tune::record_key key{.arguments = fields, .device = sample_device()};
      CHECK_FALSE(database.find(function, key));
      database.store(function, key, {{"a", c.values.back()}, {"b", b}}, 1);
      const auto found = database.find(function, key);
      REQUIRE(found);
      CHECK(same(found->values[0].value, c.values.back()));
      CHECK(same(found->values[1].value, b));
    }
  }
}

TEST_CASE_FIXTURE(own_database,
                  "an empty optional key is one row, and NaN comes back from a tuning") {
  const tune::function_identity function = function_of(value_type::float64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double a : {1.0, nan}) {
    database.store(function, {{{"a", 0.5}, {"b", value()}}, sample_device()},
                   {{"a", a}, {"b", value()}}, 1);
  }
  SQLite::Database file(database.path());
  CHECK(file.execAndGet("SELECT count(*) FROM f_float64__0").getInt() == 1);
  const auto found = database.find(function, {{{"a", 0.5}, {"b", value()}}, sample_device()});
  CHECK(std::isnan(std::get<double>(found->values[0].value)));
}

TEST_CASE("a person reads what they would write") {
  const auto text_of = [](value_type type, const value& v) {
    const temporary_folder folder;
    tune::tuning_database database(folder.file("tuning.db"));
    const tune::function_identity function{.name = "f", .value_fields = {{"c", type}}};
    database.store(function, {{}, sample_device()}, {{"c", v}}, 1);
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
      read_field(select.getColumn(0), field);
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

bool accepts(value_type type, const value& v) {
  try {
    check_type({"f", type}, v);
    return true;
  } catch (const type_error&) {
    return false;
  }
}

TEST_CASE("an integer fits its field") {
  const std::vector<std::pair<value_type, std::int64_t>> highest{
      {value_type::int8, 127}, {value_type::int16, 32767}, {value_type::int32, 2147483647}};
  for (const auto& [type, high] : highest) {
    CHECK(accepts(type, high));
    CHECK_FALSE(accepts(type, high + 1));
    CHECK(accepts(type, -high - 1));
    CHECK_FALSE(accepts(type, -high - 2));
  }
  const std::vector<std::pair<value_type, std::uint64_t>> unsigned_highest{
      {value_type::uint8, 255}, {value_type::uint16, 65535}, {value_type::uint32, 4294967295}};
  for (const auto& [type, high] : unsigned_highest) {
    CHECK(accepts(type, high));
    CHECK_FALSE(accepts(type, high + 1));
  }
  CHECK(accepts(value_type::int64, std::numeric_limits<std::int64_t>::min()));
  CHECK(accepts(value_type::uint64, std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("only an optional field may be empty") {
  CHECK_FALSE(accepts(value_type::int32, value()));
  CHECK_NOTHROW(check_type({"f", value_type::int32, true}, value()));
  CHECK_THROWS_WITH_AS(check_type({"pad", value_type::int32}, value()), doctest::Contains("'pad'"),
                       type_error);
}

TEST_CASE("values come one for each field, in order") {
  const std::vector<field_description> fields{{"a", value_type::boolean},
                                              {"b", value_type::boolean}};
  CHECK_NOTHROW(check_fields(fields, {{"a", true}, {"b", true}}, "f"));
  CHECK_THROWS_WITH_AS(check_fields(fields, {{"a", true}}, "f"),
                       doctest::Contains("field 'b' and got none"), argument_error);
  CHECK_THROWS_WITH_AS(check_fields(fields, {{"b", true}, {"a", true}}, "f"),
                       doctest::Contains("field 'a' and got 'b'"), argument_error);
  CHECK_THROWS_WITH_AS(check_fields(fields, {{"a", true}, {"b", true}, {"c", true}}, "f"),
                       doctest::Contains("no field 'c'"), argument_error);
}

// Keys are typed and injective: two keys that differ in any way have results of their own.

// One field of each kind of column, some of them optional.
const std::vector<tune::field_description> fields{{"flag", value_type::boolean},
                                                  {"small", value_type::int8},
                                                  {"number", value_type::int64},
                                                  {"maybe", value_type::int64, true},
                                                  {"big", value_type::uint64},
                                                  {"single", value_type::float32},
                                                  {"real", value_type::float64},
                                                  {"maybe_real", value_type::float64, true},
                                                  {"text", value_type::string},
                                                  {"maybe_text", value_type::string, true},
                                                  {"layout", value_type::enumeration},
                                                  {"type", value_type::element_type},
                                                  {"maybe_flag", value_type::boolean, true}};

const tune::function_identity function{.name = "property.autotune",
                                       .version = 0,
                                       .key_fields = fields,
                                       .value_fields = {{"wgs", value_type::int32}}};

// Few values, all of which something could take for another: so that random keys are neighbours.
std::vector<value> candidates(const tune::field_description& field) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<value> found;
  switch (field.type) {
    case value_type::boolean: found = {true, false}; break;
    case value_type::int8: found = {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}}; break;
    case value_type::int64:
      found = {std::int64_t{0}, std::int64_t{1}, std::numeric_limits<std::int64_t>::max(),
               std::numeric_limits<std::int64_t>::min()};
      break;
    case value_type::uint64:
      found = {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63,
               std::numeric_limits<std::uint64_t>::max()};
      break;
    case value_type::float32: found = {0.0, -0.0, 1.0, double{0.1F}}; break;
    case value_type::float64:
      found = {0.0,
               -0.0,
               1.0,
               0.1,
               std::nextafter(0.1, 1.0),
               9007199254740992.0,
               infinity,
               -infinity,
               std::numeric_limits<double>::denorm_min()};
      break;
    case value_type::string:
      found = {std::string(),       std::string("1"),         std::string("1.0"),
               std::string("-0.0"), std::string("true"),      std::string("\0", 1),
               std::string("a"),    std::string("A"),         std::string("a "),
               std::string("\xff"), std::string("s1:a;1:b="), std::string("nan")};
      break;
    case value_type::enumeration: found = {std::string("row"), std::string("Row")}; break;
    default: found = {std::string("float32"), std::string("float64")}; break;
  }
  if (field.optional) found.emplace_back();
  return found;
}

template <class Random>
std::vector<named_value> random_key(Random& random) {
  std::vector<named_value> key;
  for (const auto& field : fields) {
    const std::vector<value> all = candidates(field);
    key.push_back({field.name, all[random() % all.size()]});
  }
  return key;
}

/// One other value in one field.
template <class Random>
std::vector<named_value> neighbour(std::vector<named_value> key, Random& random) {
  const std::size_t changed = random() % fields.size();
  const std::vector<value> all = candidates(fields[changed]);
  key[changed].value = all[random() % all.size()];
  return key;
}

bool same_bits(double a, double b) { return a == b && std::signbit(a) == std::signbit(b); }

bool same(const std::vector<named_value>& a, const std::vector<named_value>& b) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (a[i].value.index() != b[i].value.index()) return false;
    const double* x = std::get_if<double>(&a[i].value);
    if (x != nullptr ? !same_bits(*x, std::get<double>(b[i].value)) : a[i] != b[i]) return false;
  }
  return true;
}

TEST_CASE_FIXTURE(own_database, "every key finds what was stored for it, and no other key does") {
  std::minstd_rand random(27);
  std::vector<std::vector<named_value>> keys;
  for (int i = 0; i < 60; ++i) {
    keys.push_back(i % 2 == 0 ? random_key(random) : neighbour(keys.back(), random));
  }
  std::map<std::string, std::int64_t> expected;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const tune::record_key key{keys[i], sample_device()};
    const bool known = database.find(function, key).has_value();
    CHECK(known == expected.contains(tune::canonical_text(keys[i])));
    database.store(function, key, sample_tuning(number), 1.0);
    expected[tune::canonical_text(keys[i])] = number;
  }
  for (const auto& key : keys) {
    const auto found = database.find(function, {key, sample_device()});
    REQUIRE(found);
    CHECK(found->values == sample_tuning(expected.at(tune::canonical_text(key))));
  }
}

TEST_CASE("keys have one canonical text if and only if they are the same") {
  std::minstd_rand random(28);
  std::size_t equal = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto a = random_key(random);
    const auto b = neighbour(a, random);
    const bool texts_equal = tune::canonical_text(a) == tune::canonical_text(b);
    REQUIRE(texts_equal == same(a, b));
    if (texts_equal) ++equal;
  }
  CHECK(equal > 1000);
  CHECK(equal < 19'000);
}

TEST_CASE_FIXTURE(own_database, "a value of any other type is refused, and NaN is no key") {
  std::minstd_rand random(30);
  const std::vector<value> one{std::int64_t{1},  std::uint64_t{1}, 1.0, true,
                               std::string("1"), value()};
  for (std::size_t field = 0; field < fields.size(); ++field) {
    CAPTURE(fields[field].name);
    auto key = random_key(random);
    int accepted = 0;
    for (const value& v : one) {
      key[field].value = v;
      try {
        database.find(function, {key, sample_device()});
        ++accepted;
      } catch (const tune::argument_error&) {
      }
    }
    CHECK(accepted == (fields[field].optional ? 2 : 1));
    key[field].value = std::nan("");
    CHECK_THROWS_AS(database.find(function, {key, sample_device()}), tune::argument_error);
  }
}

// Times that cannot be true are refused by the library, and by the tables should it fail to.

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double impossible[] = {0.0,      -0.0,      -1.0,
                                 infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};

/// Whether the database takes this as the value of score_ns. NaN becomes NULL in SQLite, which
/// stands for a result that was not measured.
bool takes(const std::string& path, const std::string& table, const std::string& expression) {
  SQLite::Database opened(path, SQLite::OPEN_READWRITE);
  try {
    opened.exec("UPDATE \"" + table + "\" SET score_ns = " + expression);
    return true;
  } catch (const SQLite::Exception&) {
    return false;
  }
}

TEST_CASE_FIXTURE(own_database, "a result with an impossible time is not stored") {
  for (const double time : impossible) {
    CAPTURE(time);
    CHECK_THROWS_AS(database.store(sample_function(), sample_key(), sample_tuning(1), time),
                    tune::argument_error);
  }
  CHECK_FALSE(database.find(sample_function(), sample_key()));
}

TEST_CASE_FIXTURE(own_database, "a trial with an impossible score or sample is not stored") {
  const auto search = database.begin_search(sample_function(), sample_key());
  for (const double time : impossible) {
    CAPTURE(time);
    CHECK_THROWS_AS(
        database.add_trial(search, {.outcome = "measured", .samples_ns = {1}, .score_ns = time}),
        tune::argument_error);
    CHECK_THROWS_AS(database.add_trial(
                        search, {.outcome = "measured", .samples_ns = {1, time}, .score_ns = 1.0}),
                    tune::argument_error);
  }
  CHECK(database.trials(sample_function(), sample_key()).empty());
}

TEST_CASE_FIXTURE(own_database, "the tables themselves refuse impossible times") {
  database.store(sample_function(), sample_key(), sample_tuning(1), 1.0);
  const auto search = database.begin_search(sample_function(), sample_key());
  database.add_trial(search, {.outcome = "measured", .samples_ns = {1}, .score_ns = 1.0});
  for (const std::string table : {"multiply_template.autotune__0", "libtune_trial"}) {
    CAPTURE(table);
    for (const char* expression : {"0", "-0.0", "-1", "9e999", "-9e999", "'fast'", "x'00'"}) {
      CAPTURE(expression);
      CHECK_FALSE(takes(database.path(), table, expression));
    }
    CHECK(takes(database.path(), table, "2.5"));
  }
}

}  // namespace column_test
