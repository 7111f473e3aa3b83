// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/poisonous_trials.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "tests/store/recorded_searches.hpp"

using tune::search_identity;
using tune::stored_trial;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_search;
using tune::testing::sample_tuning;

namespace {

const std::vector<std::string> bad{"crashed", "timed out"};

struct open_database : tune::testing::recorded_searches {
  std::vector<stored_trial> poisonous(const search_identity& identity = sample_search,
                                      const tune::record_key& key = sample_key()) {
    return database.poisonous_trials(sample_function(), key, identity, bad);
  }
};

stored_trial trial(std::int64_t wgs, const std::string& outcome, const std::string& message = {}) {
  return {.configuration = sample_tuning(wgs), .outcome = outcome, .message = message};
}

}  // namespace

TEST_CASE("a database without searches knows of no poison") {
  open_database open;
  CHECK(open.poisonous().empty());
}

TEST_CASE("poison is known for its key, in whatever space, the latest word of each") {
  open_database open;
  open.record({trial(1, "crashed", "first"), trial(2, "measured"), trial(3, "timed out")});
  search_identity larger = sample_search;
  larger.space = "larger";
  open.record({trial(1, "timed out", "second")}, larger);
  for (const search_identity& identity : {sample_search, larger}) {
    const auto found = open.poisonous(identity);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == trial(1, "timed out", "second"));
    CHECK(found[1] == trial(3, "timed out"));
  }
}

TEST_CASE("poison says nothing of another key, compiler, libtune, stage or device") {
  open_database open;
  open.record({trial(1, "crashed")});
  CHECK(open.poisonous().size() == 1);
  CHECK(open.poisonous(sample_search, sample_key(65)).empty());
  CHECK(open.poisonous(sample_search, sample_key(64, {"GPU One", "Some Platform", "536"})).empty());
  search_identity other = sample_search;
  SUBCASE("compiler") { other.compiler = "newer"; }
  SUBCASE("libtune") { other.library_version = "2"; }
  SUBCASE("stage") { other.stage = 1; }
  CHECK(open.poisonous(other).empty());
}

TEST_CASE("what was only remembered does not count") {
  open_database open;
  stored_trial remembered = trial(1, "crashed");
  remembered.remembered = true;
  open.record({remembered});
  CHECK(open.poisonous().empty());
}
