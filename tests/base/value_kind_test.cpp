// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/value_kind.hpp"

#include <doctest/doctest.h>
#include <string>

namespace value_kind_test {

using tune::value;
using tune::value_type;
using tune::detail::find_kind;
using tune::detail::kind_name;
using tune::detail::kind_of;
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

TEST_CASE("a value and the type of its field have the same kind, known by its name") {
  struct example {
    value v;
    const char* name;
    std::vector<value_type> types;
  };
  const std::vector<example> all{
      {value(), "none", {}},
      {true, "bool", {value_type::boolean}},
      {std::int64_t{1},
       "signed",
       {value_type::int8, value_type::int16, value_type::int32, value_type::int64}},
      {std::uint64_t{1},
       "unsigned",
       {value_type::uint8, value_type::uint16, value_type::uint32, value_type::uint64}},
      {1.0, "real", {value_type::float32, value_type::float64}},
      {std::string(),
       "string",
       {value_type::string, value_type::enumeration, value_type::element_type}}};
  for (const example& one : all) {
    CAPTURE(one.name);
    CHECK(kind_name(kind_of(one.v)) == one.name);
    CHECK(find_kind(one.name) == kind_of(one.v));
    for (const value_type type : one.types) CHECK(kind_of(type) == kind_of(one.v));
  }
  CHECK_FALSE(find_kind("blob"));
}

}  // namespace value_kind_test
