// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/database_recorder.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/testing/temporary_directory.hpp"

namespace {

const tune::function_identity function{
    "sample.scale", 0, {{"size", tune::value_type::int32}}, {{"wgs", tune::value_type::int32}}};
const tune::record_key key{{{"size", std::int64_t{64}}}, {"device", "platform", "1.0"}};

tune::trial measured(std::int64_t wgs, double time) {
  tune::trial item;
  item.configuration = {{"wgs", wgs}};
  item.outcome = tune::outcome::measured;
  item.samples = tune::samples({tune::run_time(time), tune::run_time(time)});
  item.score = tune::run_time(time);
  return item;
}

tune::trial failed(std::int64_t wgs) {
  tune::trial item;
  item.configuration = {{"wgs", wgs}};
  item.outcome = tune::outcome::compile_failed;
  item.reason = "line 3: no";
  return item;
}

tune::search_finished_event finished(std::optional<std::size_t> best) {
  return {.subject = {}, .trials = {}, .best = best, .elapsed = {}};
}

}  // namespace

TEST_CASE("every trial is kept as soon as it has been made") {
  const tune::testing::temporary_directory folder;
  const auto database = std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::database_recorder recorder(database, function, key);
  recorder.search_started({});
  recorder.trial_finished({}, measured(4, 125.5));
  recorder.trial_finished({}, failed(8));

  auto search = database->latest_search(function, key);
  REQUIRE(search);
  CHECK_FALSE(search->finished_at);
  REQUIRE(search->trials.size() == 2);
  CHECK(search->trials[0].outcome == "measured");
  CHECK(search->trials[0].samples_ns == std::vector<double>{125.5, 125.5});
  CHECK(search->trials[0].score_ns == 125.5);
  CHECK(search->trials[1].outcome == "compile failed");
  CHECK(search->trials[1].message == "line 3: no");
  CHECK_FALSE(search->trials[1].score_ns);

  recorder.search_finished(finished(0));
  search = database->latest_search(function, key);
  CHECK(search->finished_at);
  CHECK(search->result == "found");
}

TEST_CASE("a database that cannot be written is given up for the search, without a throw") {
  const auto database = std::make_shared<tune::tuning_database>("/dev/null/tuning.db");
  tune::database_recorder recorder(database, function, key);
  CHECK_NOTHROW(recorder.search_started({}));
  CHECK_NOTHROW(recorder.trial_finished({}, measured(4, 1)));
  CHECK_NOTHROW(recorder.search_finished(finished(std::nullopt)));
}
