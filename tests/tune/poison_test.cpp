// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/poison.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using tune::is_poison;
using tune::outcome;
using tune::stored_trial;

namespace {

stored_trial ended(outcome result, std::vector<std::string> programs = {}) {
  return {.outcome = std::string(outcome_name(result)), .programs = std::move(programs)};
}

}  // namespace

TEST_CASE("what was lost with its process is poison, what a compiler did is not") {
  for (const outcome lost : {outcome::timed_out, outcome::crashed, outcome::out_of_memory}) {
    CHECK(is_poison(ended(lost)));
    CHECK_FALSE(is_poison(ended(lost, {"digest"})));
  }
}

TEST_CASE("what broke the device's context is poison, whatever it compiled") {
  CHECK(is_poison(ended(outcome::device_fault)));
  CHECK(is_poison(ended(outcome::device_fault, {"digest"})));
}

TEST_CASE("nothing else is poison") {
  for (const outcome other :
       {outcome::measured, outcome::skipped, outcome::over_limit, outcome::compile_failed,
        outcome::launch_failed, outcome::wrong_result, outcome::invalid_time, outcome::failed}) {
    CHECK_FALSE(is_poison(ended(other)));
  }
  CHECK_FALSE(is_poison({.outcome = "melted"}));
}

TEST_CASE("what is only remembered says nothing new") {
  stored_trial again = ended(outcome::crashed);
  again.remembered = true;
  CHECK_FALSE(is_poison(again));
}

TEST_CASE("the words that databases are asked for are those of what can be poison") {
  CHECK(tune::poisonous_outcomes().size() == 4);
  for (const std::string& word : tune::poisonous_outcomes()) {
    CHECK(is_poison({.outcome = word}));
  }
}
