// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/field_type.hpp"

#include <doctest/doctest.h>
#include <string>

namespace field_type_test {

using tune::value;
using tune::value_type;
using tune::detail::alternative_name;
using tune::detail::value_type_from_name;

TEST_CASE("each type is known by its name, and no other word is one") {
  for (int number = 0; number <= int(value_type::element_type); ++number) {
    const auto type = static_cast<value_type>(number);
    CHECK(value_type_from_name(tune::value_type_name(type)) == type);
  }
  for (const char* word : {"", "INT32", "int32 ", "int", "uint128", "dtype32"}) {
    CHECK_FALSE(value_type_from_name(word));
  }
}

TEST_CASE("a value and the type of its field have the same word") {
  CHECK(alternative_name(value()) == "none");
  CHECK(alternative_name(value(true)) == "bool");
  CHECK(alternative_name(value_type::boolean) == "bool");
  CHECK(alternative_name(value(std::int64_t{1})) == "signed");
  for (const auto type :
       {value_type::int8, value_type::int16, value_type::int32, value_type::int64}) {
    CHECK(alternative_name(type) == "signed");
  }
  CHECK(alternative_name(value(std::uint64_t{1})) == "unsigned");
  for (const auto type :
       {value_type::uint8, value_type::uint16, value_type::uint32, value_type::uint64}) {
    CHECK(alternative_name(type) == "unsigned");
  }
  CHECK(alternative_name(value(1.0)) == "real");
  CHECK(alternative_name(value_type::float32) == "real");
  CHECK(alternative_name(value_type::float64) == "real");
  CHECK(alternative_name(value(std::string())) == "string");
  for (const auto type : {value_type::string, value_type::enumeration, value_type::element_type}) {
    CHECK(alternative_name(type) == "string");
  }
}

}  // namespace field_type_test
