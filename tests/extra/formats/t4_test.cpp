// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t4.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/kernel_tuner_cache.hpp"
#include "libtune/store/database/record.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/samples.hpp"

namespace t4_test {

using namespace tune::testing;
using namespace tune;
using nlohmann::json;

std::vector<std::string> results_of(const function_content& content) {
  std::vector<std::string> texts;
  for (const tune::result_content& result : content.results) {
    texts.push_back(canonical_text(result));
  }
  return texts;
}

function_content one_search(const std::vector<trial_content>& trials) {
  search_content search{.columns = search_columns(sample_key().arguments, sample_device()),
                        .trials = trials};
  search.columns["started_at"] = std::string("2024-01-31T12:00:00Z");
  return {.function = sample_function(), .results = {}, .searches = {search}};
}

trial_content measured(double ns) {
  return {.configuration = sample_tuning(64),
          .columns = {{"configuration", std::string("wgs=64")},
                      {"outcome", std::string("measured")},
                      {"message", std::string()},
                      {"score_ns", ns},
                      {"samples_ns", json{ns, ns}.dump()},
                      {"preparation_ns", std::int64_t{1234567}}}};
}

/// As Kernel Tuner 1.0 wrote it: a configuration that ran, and one that did not compile.
const char* const foreign = R"({"metadata": {"timeunit": "miliseconds"}, "schema_version": "1.0.0",
 "results": [
  {"timestamp": "2023-12-21 10:44:42.236642+00:00", "configuration": {"wgs": 64, "f": 0.5},
   "times": {"compilation": 661.5, "framework": 53.1, "search_algorithm": 0, "validation": 0,
             "runtimes": [12.5, 12.25]},
   "invalidity": "correct", "correctness": 1,
   "measurements": [{"name": "time", "value": 12.375, "unit": ""}], "objectives": ["time"]},
  {"timestamp": "2023-12-21 10:44:43.0+00:00", "configuration": {"wgs": 128, "f": 1},
   "times": {"compilation": 3, "framework": 1, "search_algorithm": 0, "validation": 0},
   "invalidity": "compile", "correctness": 1,
   "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": ""}],
   "objectives": ["time"]}]})";

foreign_subject subject() {
  return {.function = {.name = "convolution",
                       .version = 0,
                       .key_fields = {{"size", tune::value_type::int64}},
                       .value_fields = {}},
          .arguments = {{"size", std::int64_t{4096}}},
          .device = sample_device(),
          .same_kernel = true};
}

TEST_CASE("metrics are measurements of T4, and come back exactly") {
  trial_content one = measured(1500);
  one.columns["metrics"] = std::string(R"([["gflops",812.5,"GFLOP/s"],["energy",null,"J"]])");
  const std::string text = to_t4_text(one_search({one}));
  const json measurements = tune::detail::parse_json<json>(text)["results"][0]["measurements"];
  CHECK(measurements[1] == json{{"name", "gflops"}, {"value", 812.5}, {"unit", "GFLOP/s"}});
  CHECK(measurements[2] == json{{"name", "energy"}, {"value", "nan"}, {"unit", "J"}});
  CHECK(from_own_t4_text(text).searches[0].trials[0].metrics() == one.metrics());
}

TEST_CASE("what was minimised is named, and what breaks a constraint comes back as that") {
  function_content one = one_search({measured(1500)});
  one.searches[0].trials[0].columns["outcome"] = std::string("unfit");
  one.searches[0].trials[0].columns.erase("score_ns");
  CHECK(tune::detail::parse_json<json>(to_t4_text(one))["results"][0]["objectives"] ==
        json{"time"});
  one.function.name += "..min_energy.max_gflops.power_le_100";
  const json result = tune::detail::parse_json<json>(to_t4_text(one))["results"][0];
  CHECK(result["objectives"] == json{"energy", "gflops"});
  CHECK(result["invalidity"] == "constraints");
  const auto back = from_own_t4_text(to_t4_text(one)).searches[0].trials[0];
  CHECK(tune::text_of(back.columns, "outcome") == "unfit");
}

TEST_CASE("every time reads back to fifteen digits") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-3, 12);
  std::vector<trial_content> trials{measured(1500), measured(0.1), measured(1e300)};
  for (int i = 0; i < 2000; ++i) trials.push_back(measured(std::pow(10, exponent(random))));
  const function_content back = from_own_t4_text(to_t4_text(one_search(trials)));
  const auto& read = back.searches.at(0).trials;
  REQUIRE(read.size() == trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CHECK(*read[i].score_ns() == doctest::Approx(*trials[i].score_ns()).epsilon(1e-14));
    REQUIRE(read[i].samples_ns().size() == 2);
    CHECK(read[i].samples_ns()[1] == doctest::Approx(*trials[i].score_ns()).epsilon(1e-14));
  }
}

TEST_CASE("a search read back is of the same key and is written the same again") {
  int searches = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    for (function_content& content : random_content(seed).next().functions) {
      if (content.searches.empty()) continue;
      content.searches.resize(1);
      const std::string text = to_t4_text(content);
      const function_content back = from_own_t4_text(text);
      CHECK(to_t4_text(back) == text);
      CHECK(back.function == content.function);
      for (const char* column :
           {"arguments_canonical", "device_canonical", "started_at", "result"}) {
        CHECK(tune::text_of(back.searches[0].columns, column) ==
              tune::text_of(content.searches[0].columns, column));
      }
      CHECK(results_of(back) == results_of(content));
      ++searches;
    }
  }
  CHECK(searches > 50);
}

TEST_CASE(
    "a trial has its configuration, outcome, reason and date, and nothing T4 has no words for") {
  function_content content = one_search({measured(1500), measured(1600)});
  auto& trials = content.searches[0].trials;
  content.searches[0].columns["space"] = std::string("0123456789abcdef");
  trials[0].columns["programs"] = std::string("aa bb");
  trials[0].columns["made_at"] = std::string("2024-01-31T12:00:05Z");
  trials[1].columns["outcome"] = std::string("over a device limit");
  trials[1].columns["message"] = std::string("too many work items");
  trials[1].columns.erase("score_ns");
  const std::string text = to_t4_text(content);
  CHECK(text.find("aa bb") == std::string::npos);
  CHECK(text.find("0123456789abcdef") == std::string::npos);
  const json document = tune::detail::parse_json<json>(text);
  CHECK(document["results"][0]["timestamp"] == "2024-01-31T12:00:05Z");
  CHECK(document["results"][1]["timestamp"] == "2024-01-31T12:00:00Z");
  const function_content back = from_own_t4_text(text);
  const auto& read = back.searches[0].trials;
  CHECK(read[0].configuration == trials[0].configuration);
  CHECK(tune::text_of(read[0].columns, "made_at") == "2024-01-31T12:00:05Z");
  CHECK(tune::text_of(read[1].columns, "outcome") == "over a device limit");
  CHECK(tune::text_of(read[1].columns, "message") == "too many work items");
}

TEST_CASE("a file of Kernel Tuner becomes a search, and its fastest configuration the result") {
  const function_content content = from_t4_text(foreign, subject());
  REQUIRE(content.searches.size() == 1);
  const auto& trials = content.searches[0].trials;
  REQUIRE(trials.size() == 2);
  CHECK(trials[0].samples_ns() == std::vector<double>{12.5e6, 12.25e6});
  CHECK(trials[0].score_ns() == 12.375e6);
  CHECK(tune::text_of(trials[1].columns, "outcome") == "compile failed");
  CHECK(tune::text_of(trials[1].columns, "message") == "CompilationFailedConfig");
  CHECK(trials[1].configuration[0].value == tune::value(1.0));  // f, a floating number in the other
  REQUIRE(content.results.size() == 1);
  CHECK(content.results[0].values == trials[0].configuration);
  CHECK(tune::text_of(content.results[0].columns, "tuned_at") == "2023-12-21T10:44:42Z");
  CHECK(content.results[0].device() == sample_device());
}

TEST_CASE("a file that is not T4 is refused with the reason") {
  const auto check_refused = [](const auto& spoil) {
    json document = tune::detail::parse_json<json>(foreign);
    spoil(document);
    CHECK_THROWS_AS(from_t4_text(document.dump(), subject()), tune::argument_error);
  };
  check_refused([](json& document) { document.erase("results"); });
  check_refused([](json& document) { document["results"] = json::array(); });
  check_refused([](json& document) { document["results"][0].erase("times"); });
  check_refused([](json& document) { document["results"][1]["configuration"].erase("f"); });
  check_refused([](json& document) { document["results"][0]["invalidity"] = "maybe"; });
  check_refused([](json& document) { document["results"][0]["times"]["compilation"] = 1e300; });
  check_refused([](json& document) { document["metadata"]["timeunit"] = "fortnights"; });
  CHECK_THROWS_AS(from_t4_text("[", subject()), tune::argument_error);
  CHECK_THROWS_AS(from_t4_text(std::string(100'000, '['), subject()), tune::argument_error);
  CHECK_THROWS_AS(from_own_t4_text(foreign), tune::argument_error);
}

TEST_CASE("times that are no times are never results") {
  auto document = tune::detail::parse_json<json>(foreign);
  const json first = document["results"][0];
  for (const double time : {0.0, -12.5, 1e305}) {
    document["results"].push_back(first);
    document["results"].back()["measurements"] = json::array({{{"name", "time"}, {"value", time}}});
    document["results"].back()["times"]["runtimes"] = {12.5, time};
  }
  const function_content content = from_t4_text(document.dump(), subject());
  REQUIRE(content.results.size() == 1);
  CHECK(content.results[0].score_ns() == 12.375e6);
  const auto& trials = content.searches[0].trials;
  for (std::size_t i = trials.size() - 3; i < trials.size(); ++i) {
    CHECK(tune::text_of(trials[i].columns, "outcome") == "invalid time");
    CHECK_FALSE(trials[i].score_ns());
    CHECK(trials[i].samples_ns() == std::vector<double>{12.5e6});
  }
}

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

foreign_subject cached_subject() {
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
  const function_content content = read(cached_subject());
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
  const function_content content = read(cached_subject());
  REQUIRE(content.results.size() == 1);
  const auto& result = content.results[0];
  CHECK(is_prior(result.device()));
  CHECK(result.device().name == "NVIDIA RTX A4000");
  CHECK(result.values == std::vector<tune::named_value>{{"wgs", std::int64_t{32}},
                                                        {"tile", std::uint64_t{2}},
                                                        {"cached", true}});
}

TEST_CASE("of the same kernel the fastest is a result, if the parameters are the fields") {
  foreign_subject same = cached_subject();
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
  foreign_subject other = cached_subject();
  other.function.value_fields.clear();
  other.defaults.clear();
  const auto content = read(other);
  REQUIRE(content.function.value_fields.size() == 3);
  CHECK(content.function.value_fields[0].name == "wgs");
  CHECK(content.function.value_fields[0].type == tune::value_type::int32);
}

TEST_CASE("what cannot be taken is refused with the entry, the fault and the remedy") {
  const auto refused = [](const std::string& from, const char* reason) {
    CHECK_THROWS_WITH_AS(content_of(read_kernel_tuner_cache(from), cached_subject()),
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

TEST_CASE("times that are no times are never results") {
  const auto content =
      content_of(read_kernel_tuner_cache(R"({"tune_params_keys": ["tile"], "cache": {
        "1": {"tile": 1, "time": 3}, "2": {"tile": 2, "time": 2},
        "3": {"tile": 3, "time": -1}, "4": {"tile": 4},
        "5": {"tile": 5, "time": 1e308, "times": [1e308, 4]}}})"),
                 cached_subject());
  CHECK(content.results.at(0).values[1].value == tune::value(std::uint64_t{2}));
  CHECK(outcome_at(content, 2) == "invalid time");
  CHECK(outcome_at(content, 3) == "failed");
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

}  // namespace t4_test
