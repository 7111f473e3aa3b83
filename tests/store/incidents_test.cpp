// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/prune.hpp"
#include "tests/store/recorded_searches.hpp"

namespace incidents_test {

using tune::search_identity;
using tune::stored_trial;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_search;
using tune::testing::sample_tuning;

const std::vector<std::string> bad{"crashed", "timed out"};

stored_trial trial(std::int64_t wgs, const std::string& outcome, const std::string& message = {}) {
  return {.configuration = sample_tuning(wgs), .outcome = outcome, .message = message};
}

TEST_CASE("the incidents of a database are listed with what they are of, and forgotten for good") {
  tune::testing::recorded_searches open;
  open.record({trial(1, "crashed", "first"), trial(2, "measured"), trial(3, "timed out")});
  open.record({trial(1, "crashed", "other key")}, sample_search, sample_key(65));
  const auto all = [](const tune::stored_incident&) { return true; };
  const std::string path = open.database.path();
  const auto listed = tune::list_incidents(path, bad, all);
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].trial == trial(1, "crashed", "first"));
  CHECK_FALSE(listed[0].trial.made_at.empty());
  CHECK(listed[0].function == sample_function());
  CHECK(listed[0].search == sample_search);
  CHECK(listed[0].device.driver_version == sample_key().device.driver_version);
  CHECK(listed[0].arguments_canonical != listed[2].arguments_canonical);

  const auto of_first = [&](const tune::stored_incident& incident) {
    return incident.trial.message == "first";
  };
  CHECK(tune::forget_incidents(path, bad, of_first) == 1);
  CHECK(tune::list_incidents(path, bad, all).size() == 2);
  CHECK(tune::forget_incidents(path, bad, of_first) == 0);
  // What is left of the search goes on without it.
  const auto search = open.database.unfinished_search(sample_function(), sample_key(), 0);
  REQUIRE(search);
  CHECK(search->trials.size() == 2);
}

TEST_CASE("where there is no database nothing is listed, forgotten or made") {
  const tune::testing::temporary_folder folder;
  const std::string path = folder.file("none.db");
  const auto all = [](const tune::stored_incident&) { return true; };
  CHECK(tune::list_incidents(path, bad, all).empty());
  CHECK(tune::forget_incidents(path, bad, all) == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace incidents_test
