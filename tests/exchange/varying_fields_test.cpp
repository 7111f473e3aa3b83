// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/varying_fields.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "tests/exchange/sample_search.hpp"

namespace varying_fields_test {

using tune::named_value;
using tune::varying_fields;
using tune::testing::sample_configuration;

using fields = std::vector<named_value>;

TEST_CASE("of one configuration every field is worth showing") {
  varying_fields seen;
  CHECK(seen.varying(sample_configuration(1, 2)) == sample_configuration(1, 2));
  CHECK(seen.common().empty());
  seen.add(sample_configuration(1, 2));
  CHECK(seen.varying(sample_configuration(1, 2)) == sample_configuration(1, 2));
  CHECK(seen.common().empty());
}

TEST_CASE("fields that have differed are told from those that have not") {
  varying_fields seen;
  seen.add(sample_configuration(1, 2));
  seen.add(sample_configuration(1, 4));
  CHECK(seen.varying(sample_configuration(1, 2)) == fields{{"block_y", std::int64_t{2}}});
  CHECK(seen.common() == fields{{"block_x", std::int64_t{1}}, {"tile", std::int64_t{1}}});
  seen.add(sample_configuration(3, 2));
  CHECK(to_string(seen.varying(sample_configuration(3, 2))) == "block_x=3, block_y=2");
  CHECK(to_string(seen.common()) == "tile=1");
}

TEST_CASE("a field that differed once goes on varying") {
  varying_fields seen;
  for (const std::int64_t y : {1, 2, 1, 1}) seen.add(sample_configuration(1, y));
  CHECK(to_string(seen.varying(sample_configuration(1, 1))) == "block_y=1");
}

TEST_CASE("equal numbers of different types differ, and so does an empty optional") {
  varying_fields seen;
  seen.add({{"a", std::int64_t{1}}, {"b", std::int64_t{0}}, {"c", std::string("x")}});
  seen.add({{"a", 1.0}, {"b", tune::value()}, {"c", std::string("x")}});
  CHECK(to_string(seen.common()) == "c=x");
}

TEST_CASE("configurations without fields have nothing in common and nothing to show") {
  varying_fields seen;
  seen.add({});
  seen.add({});
  CHECK(seen.common().empty());
  CHECK(seen.varying({}).empty());
}

TEST_CASE("the trials without a time count like the others") {
  const auto search = tune::testing::failed_search();
  CHECK(to_string(varying_fields(search.trials).common()) == "tile=1");
}

TEST_CASE("a result is written with its fields, or alone") {
  CHECK(tune::format_result(tune::run_time(53'100), sample_configuration(16, 2)) ==
        "53.1 us (block_x=16, block_y=2, tile=1)");
  CHECK(tune::format_result(tune::run_time(53'100), {}) == "53.1 us");
}

}  // namespace varying_fields_test
