// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/simulate/read_recording.hpp"

namespace t4_recording_test {

std::string document(const std::string& unit, const std::string& results) {
  return R"({"schema_version": "1.0.0", "metadata": {"timeunit": ")" + unit +
         R"("}, "results": [)" + results + "]}";
}

const std::string two_results = R"(
{"configuration": {"b": 2, "a": true}, "invalidity": "correct", "correctness": 1,
 "times": {"compilation": 100, "framework": 3, "search_algorithm": 50, "validation": 20,
           "runtimes": [4, 6]},
 "measurements": [{"name": "power", "value": 7, "unit": ""},
                  {"name": "time", "value": 5, "unit": ""}], "objectives": ["time"]},
{"configuration": {"b": 1, "a": false}, "invalidity": "runtime", "correctness": 0,
 "times": {"compilation": 90, "framework": 1, "search_algorithm": 0, "validation": 0},
 "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}],
 "objectives": ["time"]})";

TEST_CASE("a T4 file gives its configurations with their costs") {
  const auto space = tune::read_t4(document("miliseconds", two_results), "t");
  REQUIRE(space.size() == 2);
  CHECK(space.space().cartesian_size() == 4);
  CHECK(space.space().parameters()[0].name == "a");
  CHECK_FALSE(space[0].score_ms);
  CHECK(space[0].failure == "runtime");
  CHECK(space[0].cost_ms() == 91);
  CHECK(space[1].score_ms == 5);
  CHECK_MESSAGE(space[1].cost_ms() == 133, "of the benchmark there is only the sum of the runs");
}

TEST_CASE("a T4 file that tells the time of the benchmark is believed") {
  const auto space =
      tune::read_t4(document("ms", R"({"configuration": {"n": 1}, "invalidity": "correct",
        "times": {"compilation": 1, "benchmark": 8, "runtimes": [2]},
        "measurements": [{"name": "time", "value": 2}], "objectives": ["time"]})"),
                    "t");
  CHECK(space[0].cost_ms() == 9);
}

TEST_CASE("times of a T4 file are taken in its unit") {
  const auto space = tune::read_t4(document("seconds", two_results), "t");
  CHECK(space[1].score_ms == 5000);
  CHECK(space[1].cost_ms() == 133000);
  CHECK_THROWS_AS(tune::read_t4(document("hours", two_results), "t"), tune::argument_error);
}

TEST_CASE("a result that is not correct failed, whatever was measured") {
  const auto space = tune::read_t4(
      document("ms", R"({"configuration": {"n": 1}, "invalidity": "correctness", "times": {},
        "measurements": [{"name": "time", "value": 2}], "objectives": ["time"]})"),
      "t");
  CHECK_FALSE(space[0].score_ms);
}

TEST_CASE("what is no T4 is an error that says why") {
  CHECK_THROWS_AS(tune::read_t4("", "t"), tune::argument_error);
  CHECK_THROWS_WITH_AS(tune::read_t4("{}", "t"), "a recording lacks 'results'",
                       tune::argument_error);
  CHECK_THROWS_AS(tune::read_t4(document("ms", ""), "t"), tune::argument_error);
  CHECK_THROWS_AS(tune::read_t4(document("ms", "{}"), "t"), tune::argument_error);
}

}  // namespace t4_recording_test
