// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/result_text.hpp"

#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include "tests/console/sample_search.hpp"

namespace result_text_test {

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

using namespace std::chrono_literals;
using tune::format_clock;
using tune::format_run_time;
using tune::run_time;

TEST_CASE("a run time has three digits and a fitting unit") {
  CHECK(format_run_time(run_time(0)) == "0.00 ns");
  CHECK(format_run_time(run_time(1.234)) == "1.23 ns");
  CHECK(format_run_time(run_time(12.34)) == "12.3 ns");
  CHECK(format_run_time(run_time(999.4)) == "999 ns");
  CHECK(format_run_time(run_time(53'100)) == "53.1 us");
  CHECK(format_run_time(1200us) == "1.20 ms");
  CHECK(format_run_time(2s) == "2.00 s");
  CHECK(format_run_time(12345s) == "12345 s");
  CHECK(format_run_time(run_time(-1500)) == "-1.50 us");
}

TEST_CASE("rounding never leaves a fourth digit behind") {
  CHECK(format_run_time(run_time(999.5)) == "1.00 us");
  CHECK(format_run_time(run_time(9.996)) == "10.0 ns");
  CHECK(format_run_time(run_time(99.96)) == "100 ns");
  CHECK(format_run_time(run_time(999'600)) == "1.00 ms");
}

TEST_CASE("what is no time has no unit") {
  CHECK(format_run_time(run_time(std::numeric_limits<double>::quiet_NaN())) == "nan");
  CHECK(format_run_time(run_time(std::numeric_limits<double>::infinity())) == "inf");
}

TEST_CASE("a clock shows minutes and seconds, and hours where there are any") {
  CHECK(format_clock(0s) == "0:00");
  CHECK(format_clock(7999ms) == "0:07");
  CHECK(format_clock(59min + 59s) == "59:59");
  CHECK(format_clock(1h) == "1:00:00");
  CHECK(format_clock(25h + 2min + 3s) == "25:02:03");
  CHECK(format_clock(-5s) == "0:00");
}

}  // namespace result_text_test
