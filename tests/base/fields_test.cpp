// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/fields.hpp"

#include <boost/hana/tuple.hpp>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <string>

#include "libtune/base/error.hpp"

namespace app {
enum class layout { row_major, column_major };
enum class unnamed : short { first = 3 };

struct everything {
  bool flag = false;
  std::int8_t i8 = 0;
  std::uint8_t u8 = 0;
  std::int16_t i16 = 0;
  std::uint16_t u16 = 0;
  std::int32_t i32 = 0;
  std::uint32_t u32 = 0;
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  float f32 = 0;
  double f64 = 0;
  std::string text;
  layout order = layout::row_major;
  unnamed plain = unnamed::first;
  tune::dtype type = tune::dtype::float32;
  std::optional<int> maybe;

  friend bool operator==(const everything&, const everything&) = default;
};
struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};
struct pair {
  int first = 0;
  int second = 0;
};
struct left_out {
  int listed;
  int forgotten;
};

enum class inner_layout { rows, columns };
LIBTUNE_ENUM(inner_layout, rows, columns)
struct inner {
  int wgs = 1;
  std::optional<inner_layout> order = inner_layout::columns;
};
LIBTUNE_FIELDS(inner, wgs, order)
struct derived : inner {};
namespace {
struct hidden {
  int wgs = 3;
};
LIBTUNE_FIELDS(hidden, wgs)
}  // namespace
}  // namespace app

LIBTUNE_ENUM(app::layout, row_major, column_major)
LIBTUNE_FIELDS(app::everything, flag, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, text, order,
               plain, type, maybe)
LIBTUNE_FIELDS(app::nothing)
LIBTUNE_FIELDS(app::pair, first, second)

// As LIBTUNE_FIELDS does, but it would refuse this one.
constexpr auto libtune_fields(tune::detail::listed<app::left_out>, libtune_global_scope) {
  return boost::hana::make_tuple(tune::detail::make_field<"listed", &app::left_out::listed>());
}

TEST_CASE("fields may be listed in the namespace of their type") {
  CHECK(tune::to_string(tune::to_values(app::inner{})) == "wgs=1, order=columns");
  CHECK(tune::from_values<app::inner>(tune::to_values(app::inner{7, {}})).wgs == 7);
  CHECK(tune::to_string(tune::to_values(app::hidden{})) == "wgs=3");
  CHECK_FALSE(tune::fielded<app::derived>);
}

TEST_CASE("a member that the list leaves out is noticed") {
  static_assert(tune::detail::lists_every_member<app::pair>());
  static_assert(!tune::detail::lists_every_member<app::left_out>());
  CHECK(tune::detail::aggregate_arity<app::everything>() == 16);
}

TEST_CASE("every field type comes back as it was") {
  app::everything object;
  SUBCASE("defaults") {}
  SUBCASE("largest") {
    object = {true,
              std::numeric_limits<std::int8_t>::max(),
              std::numeric_limits<std::uint8_t>::max(),
              std::numeric_limits<std::int16_t>::max(),
              std::numeric_limits<std::uint16_t>::max(),
              std::numeric_limits<std::int32_t>::max(),
              std::numeric_limits<std::uint32_t>::max(),
              std::numeric_limits<std::int64_t>::max(),
              std::numeric_limits<std::uint64_t>::max(),
              std::numeric_limits<float>::denorm_min(),
              0.1,
              std::string("nul \0 inside", 12),
              app::layout::column_major,
              app::unnamed{-4},
              tune::dtype::complex128,
              -7};
  }
  SUBCASE("smallest") {
    object.i8 = std::numeric_limits<std::int8_t>::min();
    object.i64 = std::numeric_limits<std::int64_t>::min();
    object.f64 = -std::numeric_limits<double>::infinity();
  }
  const auto values = tune::to_values(object);
  CHECK(values.size() == 16);
  CHECK(tune::from_values<app::everything>(values) == object);
}

TEST_CASE("fields are described in the order of the list") {
  const auto fields = tune::describe_fields<app::everything>();
  CHECK(fields.front() == tune::field_description{"flag", tune::value_type::boolean, false});
  CHECK(fields[12] == tune::field_description{"order", tune::value_type::enumeration, false});
  CHECK(fields[13] == tune::field_description{"plain", tune::value_type::int16, false});
  CHECK(fields[14] == tune::field_description{"type", tune::value_type::element_type, false});
  CHECK(fields.back() == tune::field_description{"maybe", tune::value_type::int32, true});
}

TEST_CASE("enumerations travel by name") {
  app::everything object;
  object.order = app::layout::column_major;
  const auto values = tune::to_values(object);
  CHECK(values[12].value == tune::value(std::string("column_major")));
}

TEST_CASE("a type without members has no values") {
  CHECK(tune::describe_fields<app::nothing>().empty());
  CHECK(tune::to_values(app::nothing{}).empty());
  CHECK(tune::from_values<app::nothing>({}) == app::nothing{});
}

TEST_CASE("a missing value and a value of another type are errors that say so") {
  const auto make = [](tune::value second) {
    const std::vector<tune::named_value> values{{"first", std::int64_t{1}},
                                                {"second", std::move(second)}};
    return tune::from_values<app::pair>(values);
  };
  CHECK(make(std::int64_t{2}).second == 2);
  CHECK_THROWS_AS(make(true), tune::type_error);
  CHECK_THROWS_AS(make(2.0), tune::type_error);
  CHECK_THROWS_AS(make(std::string("2")), tune::type_error);
  CHECK_THROWS_AS(make(std::int64_t{1} << 40), tune::type_error);
  const std::vector<tune::named_value> only_first{{"first", std::int64_t{1}}};
  CHECK_THROWS_WITH_AS(tune::from_values<app::pair>(only_first), doctest::Contains("'second'"),
                       tune::argument_error);
}

TEST_CASE("a member's pointer leads to its name") {
  CHECK(tune::field_name(&app::pair::first) == "first");
  CHECK(tune::field_name(&app::pair::second) == "second");
  CHECK(tune::field_name(&app::everything::f64) == "f64");
}
