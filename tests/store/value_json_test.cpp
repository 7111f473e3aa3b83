// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/value_json.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace value_json_test {

using tune::named_value;
using tune::to_json_text;
using tune::value;

TEST_CASE("every kind of value has its JSON") {
  CHECK(to_json_text(value()) == "null");
  CHECK(to_json_text(value(true)) == "true");
  CHECK(to_json_text(value(std::int64_t{-5})) == "-5");
  CHECK(to_json_text(value(std::uint64_t{18446744073709551615U})) == "18446744073709551615");
  CHECK(to_json_text(value(std::string("a\"b\n"))) == R"("a\"b\n")");
  CHECK(nlohmann::json::parse(to_json_text(value(0.1))) == 0.1);
}

TEST_CASE("what JSON does not have is written all the same, as valid JSON") {
  CHECK(to_json_text(value(std::numeric_limits<double>::infinity())) == "\"inf\"");
  CHECK(to_json_text(value(std::numeric_limits<double>::quiet_NaN())) == "\"nan\"");
  CHECK(nlohmann::json::accept(to_json_text(value(std::string("\xff")))));
}

TEST_CASE("fields keep their order") {
  const std::vector<named_value> fields{{"wgs", std::int64_t{64}}, {"a", value()}};
  CHECK(to_json_text(fields) == R"({"wgs":64,"a":null})");
  CHECK(to_json_text(std::vector<named_value>()) == "{}");
}

}  // namespace value_json_test
