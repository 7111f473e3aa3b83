// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/denylist.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

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
