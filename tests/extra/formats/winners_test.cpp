// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/winners.hpp"

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/testing/temporary_directory.hpp"

namespace winners_test {

using namespace tune;

const tune::device_identity h200{"NVIDIA H200", "CUDA", "12.8", {}, {}};
const tune::device_identity older_h200{"NVIDIA H200", "CUDA", "12.4", {}, {}};
const tune::device_identity pocl{"cpu-\"EPYC\"?? \xc3\xa9", "PoCL", "3.1", {}, {}};

std::vector<named_value> key(std::int64_t rows) {
  return {{"rows", rows}, {"type", std::string("float32")}, {"label", tune::value()}};
}

std::vector<named_value> tuning(std::int64_t wgs) {
  return {{"wgs", wgs},
          {"factor", 0.1},
          {"limit", std::numeric_limits<double>::infinity()},
          {"seed", std::numeric_limits<std::uint64_t>::max()},
          {"cached", true},
          {"order", std::string("a\\b\"\n")},
          {"int", std::numeric_limits<std::int64_t>::min()}};
}

void add(function_content& content, const tune::device_identity& device, std::int64_t rows,
         std::int64_t wgs, std::optional<double> ns) {
  tune::result_content result{
      .arguments = key(rows), .values = tuning(wgs), .columns = device_columns(device)};
  if (ns) result.columns["score_ns"] = *ns;
  content.results.push_back(std::move(result));
}

/// A search of all tunings with these times, for wgs of 32, 64 and 128.
void add_search(function_content& content, const tune::device_identity& device, std::int64_t rows,
                const std::vector<double>& times) {
  tune::search_content search{.columns = search_columns(key(rows), device), .trials = {}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    search.trials.push_back(
        {.configuration = tuning(32 << i), .columns = {{"score_ns", times[i]}}});
  }
  content.searches.push_back(std::move(search));
}

function_content sample() {
  using tune::value_type;
  function_content content;
  content.function = {.name = "app.blur.autotune",
                      .version = 2,
                      .key_fields = {{"rows", value_type::int32},
                                     {"type", value_type::element_type},
                                     {"label", value_type::string, true}},
                      .value_fields = {{"wgs", value_type::int32},
                                       {"factor", value_type::float32},
                                       {"limit", value_type::float64},
                                       {"seed", value_type::uint64},
                                       {"cached", value_type::boolean},
                                       {"order", value_type::enumeration},
                                       {"int", value_type::int64}}};
  add(content, pocl, 64, 128, 900.5);
  add(content, older_h200, 64, 32, 300);
  add(content, h200, 4096, 64, 100);
  add(content, h200, 64, 64, 200);
  add(content, h200, 4096, 32, {});  // of another driver: not measured
  content.results.back().columns["device_version"] = std::string("12.0");
  tune::device_identity prior = h200;
  prior.capabilities.api = tune::prior_api;
  add(content, prior, 1, 16, 1);
  add_search(content, pocl, 64, {1000, 5000, 900.5});
  add_search(content, h200, 4096, {110, 100, 180});
  add_search(content, h200, 64, {210, 200, 500});
  return content;
}

TEST_CASE("each device and key has one winner, in the order of devices and keys; priors are none") {
  const winner_table table = winners_of(sample());
  REQUIRE(table.winners.size() == 3);
  CHECK(table.winners[0].device == "NVIDIA H200");
  CHECK(table.winners[0].key == key(64));
  CHECK(table.winners[0].driver == "12.8");
  CHECK(table.winners[0].time_ns == 200.0);
  CHECK(table.winners[1].key == key(4096));
  CHECK(table.winners[1].tuning == tuning(64));
  CHECK(table.winners[2].device == pocl.name);
}

TEST_CASE("the default costs least over all devices and keys, and need not win most often") {
  // 64 wins twice, but takes 5.6 times as long on the third; 128 takes 2.5 and 1.8 times as long.
  function_content content = sample();
  CHECK(winners_of(content).otherwise == tuning(128));
  content.searches[0].trials[0].columns["score_ns"] = 901.0;
  add(content, pocl, 1, 32, 10);
  CHECK(winners_of(content).otherwise == tuning(32));
}

TEST_CASE("neither the order of results nor that of searches changes what is written") {
  const std::vector tables{winners_of(sample())};
  function_content other = sample();
  std::ranges::reverse(other.results);
  std::ranges::reverse(other.searches);
  const std::vector others{winners_of(other)};
  CHECK(to_header(tables) == to_header(others));
  CHECK(to_winners_json(tables) == to_winners_json(others));
}

TEST_CASE("the header compiles alone, and looks up while compiling") {
  function_content plain;  // without a key, of another function
  plain.function = {"fill", 0, {}, {{"wgs", tune::value_type::uint8, true}}};
  plain.results.push_back({.values = {{"wgs", std::uint64_t{7}}}, .columns = device_columns(h200)});
  const tune::testing::temporary_directory folder;
  const auto header = folder.path() / "tuned.hpp";
  std::ofstream(header) << to_header(std::vector{winners_of(sample()), winners_of(plain)});
  std::ofstream(folder.path() / "use.cpp") << R"(
#include "tuned.hpp"
#include "tuned.hpp"
namespace blur = tuned::app_blur_autotune_v2;
constexpr blur::key large{.rows = 4096, .type = "float32", .label = std::nullopt};
static_assert(blur::lookup("NVIDIA H200", large).wgs == 64);
static_assert(blur::lookup("cpu-\"EPYC\"\?\? \303\251", {64, "float32", {}}).wgs == 128);
static_assert(blur::find("NVIDIA H200", {.rows = 5, .type = "float32"}) == nullptr);
static_assert(blur::lookup("another", large) == blur::default_tuning);
static_assert(blur::default_tuning.factor == 0.1f && blur::default_tuning.order == "a\\b\"\n");
static_assert(blur::default_tuning.limit > 1e308 && blur::default_tuning.seed == UINT64_MAX);
static_assert(blur::default_tuning.cached && blur::default_tuning.int_ == INT64_MIN);
static_assert(tuned::fill::lookup("NVIDIA H200", {}).wgs == 7);
#ifdef TUNED_TARGET_NVIDIA_H200
static_assert(tuned::target == "NVIDIA H200" && blur::lookup(large).wgs == 64);
#else
static_assert(tuned::target.empty() && blur::lookup(large) == blur::default_tuning);
#endif
int main() {}
)";
  for (const char* target : {"", " -DTUNED_TARGET_NVIDIA_H200"}) {
    const std::string line = std::string("'") + LIBTUNE_CXX +
                             "' -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror "
                             "-fsyntax-only" +
                             target + " '" + (folder.path() / "use.cpp").string() + "'";
    CHECK(std::system(line.c_str()) == 0);  // NOLINT(cert-env33-c)
  }
}

TEST_CASE("the header compiles whatever fields and functions are called") {
  std::vector<winner_table> tables;
  for (const char* name : {"target", "std", "tuned", "class", "NULL", "linux", "find"}) {
    function_content one;
    one.function.name = name;
    tune::result_content result{.columns = device_columns(h200)};
    for (const char* field : {"class", "class_", "key", "tuning", "std", "NULL", "INT64_MAX",
                              "errno", "__LINE__", "int8_t", "winner", "device"}) {
      one.function.key_fields.push_back({field, tune::value_type::int64});
      result.arguments.push_back({field, std::int64_t{1}});
    }
    one.function.value_fields = one.function.key_fields;
    result.values = result.arguments;
    one.results.push_back(std::move(result));
    tables.push_back(winners_of(one));
  }
  const tune::testing::temporary_directory folder;
  std::ofstream(folder.path() / "tuned.hpp") << to_header(tables);
  std::ofstream(folder.path() / "use.cpp") << R"(
#include <cassert>
#include <cerrno>
#include "tuned.hpp"
constexpr tuned::target_::key one{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static_assert(tuned::target_::lookup("NVIDIA H200", one).class_ == 1);
static_assert(tuned::std_::key{.class__ = 2}.class__ == 2 && tuned::std_::key{.key_ = 3}.key_ == 3);
int main() {}
)";
  const std::string line = std::string("'") + LIBTUNE_CXX +
                           "' -std=c++20 -Wall -Wextra -Werror -fsyntax-only '" +
                           (folder.path() / "use.cpp").string() + "'";
  CHECK(std::system(line.c_str()) == 0);  // NOLINT(cert-env33-c)
}

TEST_CASE("the JSON lists each winner with its key, tuning and time") {
  const auto document =
      tune::detail::parse_json(to_winners_json(std::vector{winners_of(sample())}));
  CHECK(document["format"] == "libtune winners");
  const auto& function = document["functions"].at(0);
  CHECK(function["function"] == "app.blur.autotune");
  CHECK(function["default"]["wgs"] == 128);
  CHECK(function["winners"].at(2)["device"] == pocl.name);
  CHECK(function["winners"].at(2)["time_ns"] == 900.5);
  CHECK(function["winners"].at(0)["key"]["label"].is_null());
}

TEST_CASE("what no program could use is refused") {
  function_content none = sample();
  none.results = {none.results.back()};
  CHECK_THROWS_WITH_AS(static_cast<void>(winners_of(none)), doctest::Contains("priors"),
                       tune::argument_error);
  const winner_table one = winners_of(sample());
  CHECK_THROWS_AS(static_cast<void>(to_header(std::vector{one, one})), tune::argument_error);
}

}  // namespace winners_test
