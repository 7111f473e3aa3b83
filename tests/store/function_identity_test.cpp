// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_identity.hpp"

#include <doctest/doctest.h>
#include <set>
#include <string>

#include "libtune/base/error.hpp"
#include "tests/store/samples.hpp"

namespace function_identity_test {

using tune::argument_error;
using tune::function_identity;
using tune::table_name;
using tune::value_type;
using tune::testing::sample_function;

TEST_CASE("a table is named after the function and its version") {
  CHECK(table_name(sample_function("multiply_template.autotune", 0)) ==
        "multiply_template.autotune__0");
  CHECK(table_name(sample_function("_f", 12)) == "_f__12");
}

TEST_CASE("no two functions or versions share a table") {
  std::set<std::string> names;
  const std::vector<function_identity> all{
      sample_function("a", 1),    sample_function("a__1", 1), sample_function("a_", 1),
      sample_function("a", 11),   sample_function("m.A_B"),   sample_function("m_A.B"),
      sample_function("m.A.B"),   sample_function("a__1_"),   sample_function("a__1", 0),
      sample_function("a__1__0"),
  };
  for (const function_identity& function : all) names.insert(table_name(function));
  CHECK(names.size() == all.size());
}

TEST_CASE("a name that is no identifier with dots is refused") {
  for (const char* name :
       {"", "1a", ".a", "a b", "a\"b", "a'b", "a;b", "a-b", "a\nb", "\xc3\xa9"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(table_name(sample_function(name)), doctest::Contains("cannot name"),
                         argument_error);
  }
  CHECK_THROWS_AS(table_name(sample_function(std::string("a\0b", 3))), argument_error);
  CHECK_NOTHROW(table_name(sample_function(std::string(200, 'a'))));
  CHECK_THROWS_AS(table_name(sample_function(std::string(201, 'a'))), argument_error);
}

TEST_CASE("the names of the database's own tables are reserved") {
  for (const char* name : {"sqlite_schema", "SQLite_x", "libtune_function", "LIBTUNE_f"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(table_name(sample_function(name)), doctest::Contains("another name"),
                         argument_error);
  }
  CHECK_NOTHROW(table_name(sample_function("libtune.f")));
}

TEST_CASE("a version is not negative") {
  CHECK_THROWS_WITH_AS(table_name(sample_function("f", -1)), doctest::Contains("-1"),
                       argument_error);
}

TEST_CASE("field names are identifiers, unique without regard to case") {
  function_identity function = sample_function();
  CHECK_NOTHROW(tune::check_field_names(function));
  function.value_fields = {{"rows", value_type::int32}};  // the key has one too: another column
  CHECK_NOTHROW(tune::check_field_names(function));
  function.value_fields = {{"wgs", value_type::int32}, {"WGS", value_type::int32}};
  CHECK_THROWS_WITH_AS(tune::check_field_names(function), doctest::Contains("'WGS'"),
                       argument_error);
  for (const char* name : {"", "a.b", "a\"", "1"}) {
    function.value_fields = {{name, value_type::int32}};
    CHECK_THROWS_AS(tune::check_field_names(function), argument_error);
  }
}

TEST_CASE("a function has as many fields as a table has place for") {
  function_identity function = sample_function();
  function.key_fields.clear();
  function.value_fields.clear();
  for (int i = 0; i < 1000; ++i) {
    function.value_fields.push_back({"f" + std::to_string(i), value_type::int32});
  }
  CHECK_NOTHROW(tune::check_field_names(function));
  function.key_fields.push_back({"one", value_type::int32});
  CHECK_THROWS_WITH_AS(tune::check_field_names(function), doctest::Contains("1001 fields"),
                       argument_error);
}

}  // namespace function_identity_test
