// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/parameter_list.hpp"

#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

namespace parameter_list_test {

enum class order : std::uint8_t { rows, columns };

struct tuning {
  int wgs = 64;
  bool fused = true;
};

}  // namespace parameter_list_test

LIBTUNE_ENUM(parameter_list_test::order, rows, columns)
LIBTUNE_FIELDS(parameter_list_test::tuning, wgs, fused)

namespace parameter_list_test {

using tune::parameter_list;
using values = std::vector<tune::named_value>;

std::string text_of(const parameter_list& list) { return tune::to_string(list.values()); }

TEST_CASE("parameters keep their order, names and types") {
  const values made = parameter_list().add("rows", std::size_t{5}).add("scale", 0.5F);
  CHECK(made == values{{"rows", std::uint64_t{5}}, {"scale", 0.5}});
}

TEST_CASE("whatever describes an operation is a parameter") {
  CHECK(text_of(parameter_list()
                    .add("shape", tune::shape{3, 4})
                    .add("type", tune::element_type(tune::dtype::float32))
                    .add("other", tune::dtype::uint8)
                    .add("order", order::columns)
                    .add("name", "x")
                    .add("text", std::string("y"))
                    .add("limit", std::optional<int>())) ==
        "shape=(3, 4), type=float32, other=uint8, order=columns, name=x, text=y, limit=none");
}

TEST_CASE("a tuning is added field by field") {
  CHECK(text_of(parameter_list().add("tuning", tuning{.wgs = 32})) ==
        "tuning.wgs=32, tuning.fused=true");
}

TEST_CASE("an empty list has no values") { CHECK(parameter_list().values().empty()); }

}  // namespace parameter_list_test
