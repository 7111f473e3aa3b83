// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/simulate/read_recording.hpp"

namespace libtune_recording_test {

using tune::value;

tune::trial_content trial(int wgs, const std::string& outcome, tune::column_values columns) {
  columns["outcome"] = outcome;
  return {.configuration = {{"wgs", value(std::int64_t{wgs})}, {"fast", value(true)}},
          .columns = std::move(columns)};
}

tune::trial_content measured(int wgs, double score_ns) {
  return trial(wgs, "measured",
               {{"score_ns", score_ns},
                {"samples_ns", std::string("[1000000, 2000000]")},
                {"preparation_ns", std::int64_t{30'000'000}}});
}

tune::search_content search(const std::string& device, std::vector<tune::trial_content> trials) {
  return {.columns = {{"arguments_canonical", std::string("type")}, {"device_canonical", device}},
          .trials = std::move(trials)};
}

/// As `tunedb export` writes it.
std::string exported(std::vector<tune::search_content> searches) {
  tune::function_content one;
  one.function.name = "scale";
  one.searches = std::move(searches);
  return tune::to_json_document({.functions = {one}});
}

TEST_CASE("an export gives the trials of a search with their costs") {
  const auto space = tune::read_libtune_export(
      exported(
          {search("gpu", {measured(64, 1.5e6), measured(32, 2e6),
                          trial(128, "compile failed", {{"preparation_ns", std::int64_t{5}}})})}),
      "mine");
  REQUIRE(space.size() == 3);
  CHECK(space.space().values(0)[0].value == value(std::int64_t{32}));
  CHECK(space[0].score_ms == 2.0);
  CHECK(space[0].cost_ms() == doctest::Approx(33));
  CHECK(space[1].score_ms == 1.5);
  CHECK_FALSE(space[2].score_ms);
  CHECK(space[2].failure == "compile failed");
}

TEST_CASE("of several searches of the same, the latest trial of a configuration counts") {
  const auto space =
      tune::read_libtune_export(exported({search("gpu", {measured(64, 1e6), measured(32, 1e6)}),
                                          search("gpu", {}), search("gpu", {measured(64, 3e6)})}),
                                "mine");
  REQUIRE(space.size() == 2);
  CHECK(space[1].score_ms == 3.0);
}

TEST_CASE("searches of different devices are no one space") {
  CHECK_THROWS_WITH_AS(
      tune::read_libtune_export(
          exported({search("gpu", {measured(64, 1e6)}), search("cpu", {measured(64, 1e6)})}), "m"),
      doctest::Contains("export one of them"), tune::argument_error);
}

TEST_CASE("what is no export is an error that says why") {
  CHECK_THROWS_AS(tune::read_libtune_export("{}", "m"), tune::argument_error);
  CHECK_THROWS_WITH_AS(tune::read_libtune_export(exported({}), "m"),
                       "an export of libtune holds no trial", tune::argument_error);
}

}  // namespace libtune_recording_test
