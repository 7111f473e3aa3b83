// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "tests/tune/scale.hpp"

namespace denylist_test {

using tune::is_incident;
using tune::outcome;
using tune::stored_trial;

stored_trial ended(outcome result, std::vector<std::string> programs = {}) {
  return {.outcome = std::string(outcome_name(result)), .programs = std::move(programs)};
}

TEST_CASE("what was lost with its process is an incident, what a compiler did is none") {
  for (const outcome lost : {outcome::timed_out, outcome::crashed, outcome::out_of_memory}) {
    CHECK(is_incident(ended(lost)));
    CHECK_FALSE(is_incident(ended(lost, {"digest"})));
  }
}

TEST_CASE("what broke the device's context is an incident, whatever it compiled") {
  CHECK(is_incident(ended(outcome::device_fault)));
  CHECK(is_incident(ended(outcome::device_fault, {"digest"})));
}

TEST_CASE("nothing else is an incident") {
  for (const outcome other :
       {outcome::measured, outcome::skipped, outcome::over_limit, outcome::compile_failed,
        outcome::launch_failed, outcome::wrong_result, outcome::invalid_time, outcome::failed}) {
    CHECK_FALSE(is_incident(ended(other)));
  }
  CHECK_FALSE(is_incident({.outcome = "melted"}));
}

TEST_CASE("what is only remembered says nothing new") {
  stored_trial again = ended(outcome::crashed);
  again.remembered = true;
  CHECK_FALSE(is_incident(again));
}

TEST_CASE("the words that databases are asked for are those of what can be an incident") {
  CHECK(tune::incident_outcomes().size() == 4);
  for (const std::string& word : tune::incident_outcomes()) {
    CHECK(is_incident({.outcome = word}));
  }
}

TEST_CASE("so many incidents deny a configuration, and the latest of them says why") {
  const auto crash = [](std::int64_t n, const std::string& message) {
    stored_trial trial = ended(outcome::crashed);
    trial.configuration = {{"n", n}};
    trial.message = message;
    return trial;
  };
  stored_trial compiled = ended(outcome::crashed, {"digest"});
  compiled.configuration = {{"n", std::int64_t{2}}};
  const std::vector<stored_trial> latest_first{crash(1, "second"), crash(2, "only"), compiled,
                                               crash(1, "first")};
  const auto denied = tune::denied_by(latest_first, 2);
  REQUIRE(denied.size() == 1);
  CHECK(to_string(denied[0].configuration) == "n=1");
  CHECK(denied[0].message ==
        "second (it is on the denylist after 2 incidents; see tunedb denylist)");
  CHECK(is_incident(denied[0]));
  CHECK(tune::denied_by(latest_first, 3).empty());
}

}  // namespace denylist_test

namespace denylist_test::of_incident_recorder {

using tune::incident_recorder;
using tune::outcome;

struct workbench {
  tune::testing::temporary_directory folder;
  std::shared_ptr<tune::tuning_database> database =
      std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::function_identity function{.name = "sample",
                                   .version = 0,
                                   .key_fields = {},
                                   .value_fields = tune::describe_fields<sample::scale_tuning>()};
  tune::record_key key{{}, {"device", "platform", "1.0"}};
  tune::search_identity search{.space = "a space", .compiler = "a compiler"};

  void try_one(int wgs, outcome result) {
    incident_recorder log(database, function, key);
    log.read_prior(search);
    tune::trial made;
    made.configuration = tune::to_values(sample::scale_tuning{.wgs = wgs, .rows = 1});
    made.outcome = result;
    made.reason = "of what happened";
    log.trial_finished({}, made);
  }
  std::vector<tune::stored_trial> denied() {
    return incident_recorder(database, function, key).read_prior(search).denied;
  }
};

TEST_CASE("after two incidents the next knows, and what was none is not kept") {
  workbench bench;
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
  bench.try_one(4, outcome::crashed);
  bench.try_one(8, outcome::measured);
  bench.try_one(2, outcome::launch_failed);
  const auto known = bench.denied();
  REQUIRE(known.size() == 1);
  CHECK(to_string(known.front().configuration) == "wgs=4, rows=1");
  CHECK(known.front().message.starts_with("of what happened"));
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->trials.size() == 2);
}

TEST_CASE("a search that was interrupted before is the one that goes on") {
  workbench bench;
  const auto before = bench.database->begin_search(bench.function, bench.key, bench.search);
  bench.try_one(4, outcome::timed_out);
  bench.try_one(8, outcome::device_fault);
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->id == before);
  CHECK(search->trials.size() == 2);
}

TEST_CASE("one of another space does not") {
  workbench bench;
  tune::search_identity other = bench.search;
  other.space = "another space";
  const auto before = bench.database->begin_search(bench.function, bench.key, other);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.database->unfinished_search(bench.function, bench.key, 0)->id != before);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().size() == 1);
}

TEST_CASE("without a database nothing is known and nothing is kept") {
  workbench bench;
  bench.database = nullptr;
  bench.try_one(4, outcome::crashed);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
}

}  // namespace denylist_test::of_incident_recorder
