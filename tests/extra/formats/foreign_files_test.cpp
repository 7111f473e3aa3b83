// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Files of other tuners that keep to the schemas in their own ways, and what libtune writes against
// the schema of T4.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/formats/kernel_tuner_cache.hpp"
#include "libtune/extra/formats/t4.hpp"
#include "libtune/store/database/record.hpp"
#include "tests/store/samples.hpp"

namespace foreign_files_test {

using namespace tune;
using namespace tune::testing;
using nlohmann::json;

foreign_subject any_function() {
  return {.function = {.name = "f.autotune", .version = 1}, .device = {"A GPU", "", "", {}, {}}};
}

const trial_content& trial_of(const function_content& content, std::size_t place) {
  return content.searches.at(0).trials.at(place);
}

std::string outcome_of(const function_content& content, std::size_t place) {
  return text_of(trial_of(content, place).columns, "outcome");
}

double metric_of(const function_content& content, std::size_t place, const char* name) {
  const std::vector<metric> metrics = trial_of(content, place).metrics();
  const metric* const found = find_metric(metrics, name);
  REQUIRE(found != nullptr);
  return found->value;
}

TEST_CASE("a T4 file needs no more than the schema requires") {
  const auto content = from_t4_text(R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"a": 1}, "times": {"runtimes": [96.0, 97.0]}, "invalidity": "correct",
     "correctness": 1},
    {"configuration": {"a": 2}, "times": {"runtimes": [95.0], "compilation_time": 3.5},
     "invalidity": "correct", "correctness": 1},
    {"configuration": {"a": 3}, "times": {}, "invalidity": "timeout", "correctness": 0},
    {"configuration": {"a": 4}, "times": {}, "invalidity": "correct", "correctness": 1}]})",
                                    any_function());
  CHECK(trial_of(content, 0).score_ns() == 96.5e6);
  CHECK(content.results.at(0).values.at(0).value == value(std::int64_t{2}));
  CHECK(std::get<std::int64_t>(trial_of(content, 1).columns.at("preparation_ns")) == 3'500'000);
  CHECK(outcome_of(content, 2) == "timed out");
  CHECK(outcome_of(content, 3) == "invalid time");
}

TEST_CASE("times of a file of KTT are in the unit of its measured times") {
  const auto content = from_t4_text(R"({"schema_version": "1.0.0", "results": [
    {"timestamp": "2024-07-10 07:36:36 UTC", "configuration": {"block": 32},
     "objectives": ["TotalDuration"],
     "times": {"compilation_time": 1500.0, "runtimes": [96.256], "framework": 6.0},
     "invalidity": "correct", "correctness": 1,
     "measurements": [{"name": "TotalDuration", "value": 96.256, "unit": "Microseconds"},
                      {"name": "dram__sectors_read.sum", "value": 262325.0, "unit": ""}]}]})",
                                    any_function());
  CHECK(trial_of(content, 0).score_ns() == doctest::Approx(96256));
  CHECK(std::get<std::int64_t>(trial_of(content, 0).columns.at("preparation_ns")) == 1'500'000);
  CHECK(metric_of(content, 0, "dram__sectors_read_sum") == 262325);
  CHECK(text_of(trial_of(content, 0).columns, "made_at") == "2024-07-10T07:36:36Z");
  CHECK(content.function.name == "f.autotune");
}

TEST_CASE("NaN, Infinity, null and Latin-1 do not keep a cache file from being read") {
  const auto content = content_of(read_kernel_tuner_cache("{\"kernel_name\": \"caf\xe9\","
                                                          R"("tune_params_keys": ["tile", "mode"],
    "cache": {
    "1,a": {"tile": 1, "mode": "NaN", "time": 3.0, "nvml_power": NaN, "nvml_energy": 2.5},
    "2,": {"tile": 2, "mode": null, "time": 2.0, "nvml_power": -Infinity, "nvml_energy": 7},
    "4,b": {"tile": 4, "mode": "b", "time": NaN, "nvml_power": 80},
    "8,b": {"tile": 8, "mode": "b", "time": Infinity}})"),
                                  any_function());
  CHECK(content.searches.at(0).trials.size() == 4);
  CHECK(metric_of(content, 0, "nvml_energy") == 2.5);
  CHECK(std::isnan(metric_of(content, 0, "nvml_power")));
  CHECK(std::isnan(metric_of(content, 1, "nvml_power")));
  CHECK(metric_of(content, 2, "nvml_power") == 80);
  CHECK(outcome_of(content, 2) == "invalid time");
  CHECK(outcome_of(content, 3) == "invalid time");
  CHECK(content.results.at(0).values.at(0).value == value(std::int64_t{2}));
  CHECK(trial_of(content, 0).configuration.at(1).value == value(std::string("NaN")));
  CHECK(content.function.value_fields.at(1).optional);
  CHECK_THROWS_WITH_AS(read_kernel_tuner_cache("{NaN: NaN"), doctest::Contains("no JSON"),
                       argument_error);
}

TEST_CASE(
    "a cache file tuned for a rate is a search with that goal, and its best has the highest") {
  const std::string text = R"({"tune_params_keys": ["tile"], "objective": "GFLOP/s", "cache": {
    "1": {"tile": 1, "time": 1.0, "GFLOP/s": 10.5},
    "2": {"tile": 2, "GFLOP/s": 20.5},
    "3": {"tile": 3, "time": 0.5, "GFLOP/s": "RuntimeFailedConfig"}}})";
  const auto content = content_of(read_kernel_tuner_cache(text), any_function());
  CHECK(content.function.name != "f.autotune");
  CHECK(detail::split_name(content.function.name).second ==
        tuning_goal{.objectives = {maximise("gflop_s")}});
  CHECK(content.results.at(0).values.at(0).value == value(std::int64_t{2}));
  CHECK(metric_of(content, 0, "gflop_s") == 10.5);
  CHECK(outcome_of(content, 1) == "measured");
  CHECK(outcome_of(content, 2) == "launch failed");
}

TEST_CASE("whether less or more of an unknown figure is better has to be said") {
  const std::string text = R"({"tune_params_keys": ["tile"], "objective": "score", "cache": {
    "1": {"tile": 1, "score": 0.5}, "2": {"tile": 2, "score": 0.25}}})";
  foreign_subject subject = any_function();
  CHECK_THROWS_WITH_AS(content_of(read_kernel_tuner_cache(text), subject),
                       doctest::Contains("--objective 'min score' or 'max score'"), argument_error);
  const auto best_with = [&](const char* goal) {
    subject.goal = goal_from_text(goal);
    return content_of(read_kernel_tuner_cache(text), subject).results.at(0).values.at(0).value;
  };
  CHECK(best_with("max score") == value(std::int64_t{1}));
  CHECK(best_with("min score") == value(std::int64_t{2}));
}

/// The rules of T4's schema 1.0.0 for the results of a file; returns the broken ones.
std::vector<std::string> broken_rules(const json& file) {
  std::vector<std::string> broken;
  const auto demand = [&](bool holds, const char* rule) {
    if (!holds) broken.emplace_back(rule);
  };
  demand(file.at("schema_version").get<std::string>() == "1.0.0", "the version");
  demand(file.at("results").is_array(), "the results are an array");
  for (const json& result : file.at("results")) {
    for (const char* name : {"configuration", "times", "invalidity", "correctness"}) {
      demand(result.contains(name), name);
    }
    const auto part = [&](const char* name) { return result.value(name, json()); };
    demand(part("timestamp").is_null() || part("timestamp").is_string(), "timestamp");
    demand(part("objectives").is_null() || part("objectives").is_array(), "objectives");
    demand(part("configuration").is_object(), "the configuration is an object");
    demand(part("correctness").is_number(), "the correctness is a number");
    const json words{"timeout", "compile", "runtime", "correctness", "constraints", "correct"};
    demand(std::ranges::find(words, part("invalidity")) != words.end(), "invalidity");
    const json times = part("times");
    for (const char* time : {"compilation_time", "framework", "search_algorithm", "validation"}) {
      demand(!times.contains(time) || times.at(time).is_number(), time);
    }
    const json runs = times.value("runtimes", json::array());
    demand(runs.is_array(), "runtimes");
    for (const json& item : result.value("measurements", json::array())) {
      demand(item.at("name").is_string() && item.at("unit").is_string(), "a measurement's texts");
      const json& made = item.at("value");
      demand(made.is_number() || made.is_string() || made.is_array(), "a measurement's value");
    }
  }
  return broken;
}

TEST_CASE("what is written as T4 keeps the rules of its schema") {
  search_content search{.columns = search_columns(sample_key().arguments, sample_device())};
  search.columns["started_at"] = std::string("2024-01-31T12:00:00Z");
  for (const char* outcome : {"measured", "compile failed", "unfit", "wrong result", "timed out",
                              "launch failed", "skipped", "crashed"}) {
    trial_content& trial = search.trials.emplace_back();
    trial.configuration = sample_tuning(64);
    trial.columns = {{"outcome", std::string(outcome)},
                     {"message", std::string("a \"reason\"")},
                     {"samples_ns", std::string("[1000.0, 1500.5]")},
                     {"metrics", std::string(R"([["energy", 2.5, "J"], ["power", null]])")}};
    if (outcome == std::string("measured")) trial.columns["score_ns"] = 1250.0;
  }
  const function_content one{.function = sample_function(), .results = {}, .searches = {search}};
  const json written = tune::detail::parse_json<json>(to_t4_text(one));
  REQUIRE(written["results"].size() == 8);
  CHECK(broken_rules(written) == std::vector<std::string>{});
  json spoilt = written;
  spoilt["results"][0].erase("correctness");
  CHECK(broken_rules(spoilt) != std::vector<std::string>{});
}

}  // namespace foreign_files_test
