// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/column.hpp"

namespace field_check_test {

using tune::argument_error;
using tune::field_description;
using tune::named_value;
using tune::type_error;
using tune::value;
using tune::value_type;
using tune::detail::check_fields;
using tune::detail::check_key;
using tune::detail::check_score;
using tune::detail::check_type;

bool accepts(value_type type, const value& v) {
  try {
    check_type({"f", type}, v);
    return true;
  } catch (const type_error&) {
    return false;
  }
}

TEST_CASE("a value has the type of its field") {
  CHECK(accepts(value_type::boolean, true));
  CHECK_FALSE(accepts(value_type::boolean, std::int64_t{1}));
  CHECK_FALSE(accepts(value_type::int32, std::uint64_t{1}));
  CHECK_FALSE(accepts(value_type::uint32, std::int64_t{1}));
  CHECK_FALSE(accepts(value_type::float64, std::int64_t{1}));
  CHECK_FALSE(accepts(value_type::int32, 1.0));
  CHECK_FALSE(accepts(value_type::string, true));
  CHECK(accepts(value_type::enumeration, std::string("row_major")));
  CHECK(accepts(value_type::element_type, std::string("float32")));
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

TEST_CASE("NaN may be in a tuning but not in a key") {
  const std::vector<field_description> fields{{"scale", value_type::float64}};
  const std::vector<named_value> values{{"scale", std::numeric_limits<double>::quiet_NaN()}};
  CHECK_NOTHROW(check_fields(fields, values, "f"));
  CHECK_THROWS_WITH_AS(check_key(fields, values, "f"), doctest::Contains("'scale'"),
                       argument_error);
  CHECK_NOTHROW(check_key(fields, {{"scale", std::numeric_limits<double>::infinity()}}, "f"));
}

TEST_CASE("a score is finite and above zero") {
  CHECK_NOTHROW(check_score(1e-3));
  for (const double score : {0.0, -0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(score);
    CHECK_THROWS_AS(check_score(score), argument_error);
  }
}

}  // namespace field_check_test
