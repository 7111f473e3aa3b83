// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/infer_field.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"

namespace infer_field_test {

using tune::field_description;
using tune::infer_field;
using tune::value;
using tune::value_type;

field_description shown(const std::vector<value>& values) { return infer_field("x", values); }

value whole(std::int64_t number) { return number; }

TEST_CASE("the type of a field is the first of the rule that fits all its values") {
  CHECK(shown({true, false}).type == value_type::boolean);
  CHECK(shown({whole(1), whole(-2147483648)}).type == value_type::int32);
  CHECK(shown({whole(1), whole(2147483648)}).type == value_type::int64);
  CHECK(shown({whole(1), std::uint64_t{18446744073709551615U}}).type == value_type::uint64);
  CHECK(shown({whole(-1), std::uint64_t{18446744073709551615U}}).type == value_type::float64);
  CHECK(shown({whole(1), 0.5}).type == value_type::float64);
  CHECK(shown({std::string("float32"), std::string("int8")}).type == value_type::element_type);
  CHECK(shown({std::string("float32"), std::string("fast")}).type == value_type::string);
  CHECK(shown({true, whole(1)}).type == value_type::string);
  CHECK(shown({}).type == value_type::string);
}

TEST_CASE("a field that has no value somewhere is optional, and that does not change its type") {
  CHECK(shown({whole(1), value()}) == field_description{"x", value_type::int32, true});
  CHECK(shown({value()}) == field_description{"x", value_type::string, true});
  CHECK_FALSE(shown({whole(1)}).optional);
}

TEST_CASE("a type that is given counts, under its own field's name alone") {
  const tune::field_types given{{"x", tune::parse_field_type("uint16?")}};
  const std::vector<value> values{whole(1)};
  CHECK(infer_field("x", values, given) == field_description{"x", value_type::uint16, true});
  CHECK(infer_field("y", values, given).type == value_type::int32);
}

TEST_CASE("every type's name is read, and other words are refused with the list") {
  for (int i = 0; i <= static_cast<int>(value_type::element_type); ++i) {
    const auto type = static_cast<value_type>(i);
    CHECK(tune::parse_field_type(std::string(tune::value_type_name(type))).type == type);
  }
  CHECK_THROWS_WITH_AS(tune::parse_field_type("integer"), doctest::Contains("int32, uint32"),
                       tune::argument_error);
}

}  // namespace infer_field_test
