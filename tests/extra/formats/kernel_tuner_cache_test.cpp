// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/kernel_tuner_cache.hpp"

#include <doctest/doctest.h>

#include "libtune/base/error.hpp"
#include "libtune/store/database/record.hpp"

namespace kernel_tuner_cache_test {

using tune::content_of;
using tune::foreign_subject;
using tune::function_content;
using tune::kernel_tuner_cache;
using tune::read_kernel_tuner_cache;

/// As versions 0.4 to 1.3 write it, without the braces at the end: a configuration that ran, one
/// whose objective is the name of an error, and as 1.4 does it.
const std::string text = R"({
"device_name": "NVIDIA RTX A4000", "kernel_name": "convolution_kernel",
"problem_size": [4096, 4096],
"tune_params_keys": ["block_size_x", "tile", "use_cmem"],
"tune_params": {"block_size_x": [16, 32, 64], "tile": [1, 2], "use_cmem": [1]},
"objective": "time",
"cache": {
"16,1,1": {"block_size_x": 16, "tile": 1, "use_cmem": 1, "time": 5.9, "times": [5.75, 6.05],
  "compile_time": 661.5, "verification_time": 0, "benchmark_time": 12.5, "strategy_time": 0,
  "framework_time": 1.5, "timestamp": "2023-12-22 13:21:15.012489+00:00"},
"32,2,1": {"block_size_x": 32, "tile": 2, "use_cmem": 1, "time": 2.5, "times": [2.5, 2.5],
  "compile_time": 700, "timestamp": "2023-12-22 13:21:14.0+00:00"},
"64,1,1": {"block_size_x": 64, "tile": 1, "use_cmem": 1, "time": "RuntimeFailedConfig",
  "compile_time": 10007.5, "timestamp": "2023-12-22 13:21:17.0+00:00"},
"64,2,1": {"block_size_x": 64, "tile": 2, "use_cmem": 1, "__error__": "CompilationFailedConfig",
  "timestamp": "2023-12-22 13:21:18.0+00:00"})";

foreign_subject subject() {
  return {.function = {.name = "blur.autotune",
                       .version = 3,
                       .key_fields = {{"radius", tune::value_type::int32}},
                       .value_fields = {{"wgs", tune::value_type::int32},
                                        {"tile", tune::value_type::uint32},
                                        {"cached", tune::value_type::boolean}}},
          .arguments = {{"radius", std::int64_t{7}}},
          .device = {"NVIDIA RTX A4000", "", "", {}, {}},
          .names = {{"block_size_x", "wgs"}},
          .defaults = {{"wgs", std::int64_t{8}}, {"tile", std::uint64_t{4}}, {"cached", true}}};
}

function_content read(const foreign_subject& of) {
  return content_of(read_kernel_tuner_cache(text), of);
}

std::string outcome_at(const function_content& content, std::size_t place) {
  return tune::text_of(content.searches.at(0).trials.at(place).columns, "outcome");
}

TEST_CASE("a file whose end is missing is read, with the names and sizes of its head") {
  CHECK(tune::is_kernel_tuner_cache(text));
  const kernel_tuner_cache cache = read_kernel_tuner_cache(text);
  CHECK(cache.device_name == "NVIDIA RTX A4000");
  CHECK(cache.kernel_name == "convolution_kernel");
  CHECK(cache.problem_size == "[4096,4096]");
  CHECK(cache.parameters.at(0).candidates.size() == 3);
  REQUIRE(cache.entries.size() == 4);
  CHECK(cache.entries[0].name == "16,1,1");
  CHECK(cache.entries[0].times == std::vector<double>{5.75, 6.05});
  CHECK(read_kernel_tuner_cache(text + ",").entries.size() == 4);
  CHECK(read_kernel_tuner_cache(text + "}}").entries.size() == 4);
  CHECK(read_kernel_tuner_cache(text.substr(0, text.size() - 20)).entries.size() == 3);
}

TEST_CASE("every entry becomes a trial with its outcome, times and date, the earliest first") {
  const function_content content = read(subject());
  REQUIRE(content.searches.size() == 1);
  const auto& trials = content.searches[0].trials;
  REQUIRE(trials.size() == 4);
  CHECK(trials[0].score_ns() == doctest::Approx(5.9e6));
  CHECK(trials[0].samples_ns().size() == 2);
  CHECK(trials[0].configuration[0].name == "wgs");
  CHECK(trials[0].configuration[1].name == "tile");
  CHECK(std::get<std::int64_t>(trials[0].columns.at("preparation_ns")) == 661'500'000);
  CHECK(outcome_at(content, 2) == "launch failed");
  CHECK(outcome_at(content, 3) == "compile failed");
  CHECK(tune::text_of(trials[3].columns, "message") == "CompilationFailedConfig");
  CHECK(tune::text_of(content.searches[0].columns, "started_at") == "2023-12-22T13:21:14Z");
  CHECK(tune::text_of(content.searches[0].columns, "finished_at") == "2023-12-22T13:21:18Z");
  CHECK(content.searches[0].device().name == "NVIDIA RTX A4000");
}

TEST_CASE("of another kernel the fastest is a prior with the types of the function") {
  const function_content content = read(subject());
  REQUIRE(content.results.size() == 1);
  const auto& result = content.results[0];
  CHECK(is_prior(result.device()));
  CHECK(result.device().name == "NVIDIA RTX A4000");
  CHECK(result.values == std::vector<tune::named_value>{{"wgs", std::int64_t{32}},
                                                        {"tile", std::uint64_t{2}},
                                                        {"cached", true}});
}

TEST_CASE("of the same kernel the fastest is a result, if the parameters are the fields") {
  foreign_subject same = subject();
  same.same_kernel = true;
  CHECK_THROWS_WITH_AS(read(same), doctest::Contains("--field cached=PARAMETER"),
                       tune::argument_error);
  same.names["use_cmem"] = "cached";
  const function_content content = read(same);
  REQUIRE(content.results.size() == 1);
  CHECK_FALSE(is_prior(content.results[0].device()));
  CHECK(content.results[0].score_ns() == doctest::Approx(2.5e6));
  CHECK(content.searches[0].trials[0].configuration[2].value == tune::value(true));
}

TEST_CASE("a function that is not known gets the fields of the file") {
  foreign_subject other = subject();
  other.function.value_fields.clear();
  other.defaults.clear();
  const auto content = read(other);
  REQUIRE(content.function.value_fields.size() == 3);
  CHECK(content.function.value_fields[0].name == "wgs");
  CHECK(content.function.value_fields[0].type == tune::value_type::int32);
}

TEST_CASE("what cannot be taken is refused with the entry, the fault and the remedy") {
  const auto refused = [](const std::string& from, const char* reason) {
    CHECK_THROWS_WITH_AS(content_of(read_kernel_tuner_cache(from), subject()),
                         doctest::Contains(reason), tune::argument_error);
  };
  refused("{", "no JSON");
  refused("[]", "no 'cache'");
  refused(R"({"cache": {}})", "no 'tune_params_keys'");
  refused(R"({"tune_params_keys": ["tile"], "cache": {}, "problem_size": )" +
              std::string(200'000, '[') + std::string(200'000, ']') + "}",
          "nests deeper than 100 levels");
  refused(R"({"tune_params_keys": ["tile"], "cache": {}})", "no results");
  refused(R"({"tune_params_keys": ["tile", "tile"], "cache": {}})", "holds 'tile' twice");
  refused(R"({"tune_params_keys": ["tile"], "cache": {"1": {"time": 1}}})",
          "the entry '1' has no 'tile'");
  refused(R"({"tune_params_keys": ["tile"], "cache": {"1": 5}})", "the entry '1' is no object");
  refused(R"({"tune_params_keys": ["tile"], "cache": {"1": {"tile": [1], "time": 1}}})",
          "neither number nor text");
  refused(R"({"tune_params_keys": ["other"], "cache": {"1": {"other": 1, "time": 1}}})",
          "--field FIELD=PARAMETER");
  refused(R"({"tune_params_keys": ["tile"], "cache": {"1": {"tile": 0.5, "time": 1}}})", "'tile'");
}

// In quadratic time it would take longer than the test may.
TEST_CASE("many candidates are read in linear time, each once") {
  std::string candidates = "0";
  for (int i = 1; i < 500'000; ++i) candidates += "," + std::to_string(i);
  const kernel_tuner_cache cache =
      read_kernel_tuner_cache(R"({"tune_params_keys": ["tile"], "tune_params": {"tile": [)" +
                              candidates + R"(, 5]}, "cache": {}})");
  CHECK(cache.parameters.at(0).candidates.size() == 500'000);
}

TEST_CASE("times that are no times are never results, and another objective is none either") {
  const auto content = content_of(
      read_kernel_tuner_cache(R"({"tune_params_keys": ["tile"], "objective": "energy", "cache": {
        "1": {"tile": 1, "time": 3, "energy": 1}, "2": {"tile": 2, "time": 2, "energy": 5},
        "3": {"tile": 3, "time": -1, "energy": 1}, "4": {"tile": 4, "energy": 1},
        "5": {"tile": 5, "time": 1e308, "times": [1e308, 4], "energy": 1}}})"),
      subject());
  CHECK(content.results.at(0).values[1].value == tune::value(std::uint64_t{2}));
  CHECK(outcome_at(content, 2) == "invalid time");
  CHECK(outcome_at(content, 3) == "invalid time");
  CHECK(outcome_at(content, 4) == "invalid time");
  CHECK(content.searches[0].trials[4].samples_ns() == std::vector<double>{4e6});
}

TEST_CASE("a timestamp is a date, and any other text is none") {
  CHECK(tune::date_from("2023-12-22 13:21:15.012489+00:00") == "2023-12-22T13:21:15Z");
  CHECK(tune::date_from("2023-12-22T13:21:15") == "2023-12-22T13:21:15");
  for (const char* text : {"", "yesterday", "\x1b[2J", "2023-12-22", "2023-12-22 13:21:1x+00:00"}) {
    CHECK(tune::date_from(text).empty());
  }
}

}  // namespace kernel_tuner_cache_test
