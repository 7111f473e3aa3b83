// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t4.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/samples.hpp"

namespace t4_test {

using nlohmann::json;
using tune::foreign_subject;
using tune::from_own_t4_text;
using tune::from_t4_text;
using tune::function_content;
using tune::search_content;
using tune::to_t4_text;
using tune::trial_content;
using tune::testing::random_content;
using tune::testing::sample_device;
using tune::testing::sample_key;

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
  return {.function = tune::testing::sample_function(), .results = {}, .searches = {search}};
}

trial_content measured(double ns) {
  return {.configuration = tune::testing::sample_tuning(64),
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
  CHECK(measurements[2] == json{{"name", "energy"}, {"value", nullptr}, {"unit", "J"}});
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

}  // namespace t4_test
