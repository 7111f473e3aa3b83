// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/simulate/read_recording.hpp"

namespace kernel_tuner_recording_test {

const std::string whole = R"({
"device_name": "", "kernel_name": "k", "problem_size": [4, 4],
"tune_params_keys": ["b", "a", "mode"],
"tune_params": {"b": [4, 1], "a": [0.5, 2, 2], "mode": ["x", "y"]},
"objective": "time",
"cache": {
"4,0.5,x": {"b": 4, "a": 0.5, "mode": "x", "time": 2.5, "times": [2, 3], "compile_time": 100,
            "verification_time": 10, "benchmark_time": 5, "framework_time": 1, "strategy_time": 0},
"4,2,x": {"b": 4, "a": 2, "mode": "x", "time": "RuntimeFailedConfig", "compile_time": 7,
          "verification_time": 0, "benchmark_time": 0},
"1,2,y": {"b": 1, "a": 2, "mode": "y", "time": null, "__error__": "CompilationFailedConfig",
          "compile_time": 8}
}
})";

tune::recorded_space read(const std::string& text) { return tune::read_kernel_tuner(text, "k"); }

TEST_CASE("a cache file of Kernel Tuner gives its configurations with their costs") {
  const tune::recorded_space space = read(whole);
  CHECK(space.name() == "k");
  REQUIRE(space.size() == 3);
  const auto& parameters = space.space().parameters();
  REQUIRE(parameters.size() == 3);
  CHECK(parameters[0].name == "b");
  CHECK(parameters[0].candidates == std::vector<tune::value>{std::int64_t{4}, std::int64_t{1}});
  CHECK(parameters[1].candidates == std::vector<tune::value>{0.5, std::int64_t{2}});
  CHECK(parameters[2].candidates == std::vector<tune::value>{std::string("x"), std::string("y")});
  CHECK(space[0].score_ms == 2.5);
  CHECK(space[0].cost_ms() == 116);
  CHECK(space[0].samples_ms == std::vector<double>{2, 3});
}

TEST_CASE("both ways in which Kernel Tuner writes a failure are read") {
  const tune::recorded_space space = read(whole);
  CHECK_FALSE(space[1].score_ms);
  CHECK(space[1].failure == "RuntimeFailedConfig");
  CHECK(space[1].cost_ms() == 7);
  CHECK_FALSE(space[2].score_ms);
  CHECK(space[2].failure == "CompilationFailedConfig");
}

TEST_CASE("a cache file that Kernel Tuner has not closed is read") {
  const std::size_t end = whole.rfind("}\n}");
  CHECK(read(whole.substr(0, end)).size() == 3);
  CHECK(read(whole.substr(0, end) + ",").size() == 3);
}

TEST_CASE("a cache file cut off within an entry is read up to that entry") {
  const std::size_t last = whole.find("\"1,2,y\"");
  CHECK(read(whole.substr(0, last + 30)).size() == 2);
}

TEST_CASE("without listed candidates, those that occur are taken") {
  const auto space = read(R"({"tune_params_keys": ["n"], "cache": {
      "9": {"n": 9, "time": 1}, "10": {"n": 10, "time": 2}, "2": {"n": 2, "time": 3}}})");
  CHECK(space.space().parameters()[0].candidates ==
        std::vector<tune::value>{std::int64_t{2}, std::int64_t{9}, std::int64_t{10}});
}

TEST_CASE("another objective than time is the score") {
  const auto space = read(R"({"tune_params_keys": ["n"], "objective": "energy", "cache": {
      "1": {"n": 1, "time": 1, "energy": 5.0}, "2": {"n": 2, "time": 1}}})");
  CHECK(space[0].score_ms == 5.0);
  CHECK(space[1].failure == "without energy");
}

TEST_CASE("what is no cache file is an error that says why") {
  CHECK_THROWS_AS(read("time"), tune::argument_error);
  CHECK_THROWS_WITH_AS(
      read("{}"), "the file is no cache file of Kernel Tuner that can be read: it has no 'cache'",
      tune::argument_error);
  CHECK_THROWS_WITH_AS(
      read(R"({"tune_params_keys": ["n"], "cache": {"1": {"time": 1}}})"),
      "the file is no cache file of Kernel Tuner that can be read: the entry '1' has no 'n'",
      tune::argument_error);
  CHECK_THROWS_AS(read(R"({"tune_params_keys": ["n"], "cache": {}})"), tune::argument_error);
  CHECK_THROWS_AS(read(R"({"tune_params_keys": ["n"], "cache": {"1": {"n": 1, "time": -1}}})"),
                  tune::argument_error);
}

}  // namespace kernel_tuner_recording_test
