// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/exchange/duration.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <limits>

namespace duration_test {

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

}  // namespace duration_test
