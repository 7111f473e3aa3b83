// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/prior_rows.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "tests/store/recorded_searches.hpp"

namespace prior_rows_test {

using tune::search_identity;
using tune::stored_trial;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_search;
using tune::testing::sample_tuning;

struct open_database : tune::testing::recorded_searches {
  std::vector<stored_trial> failed(const search_identity& identity = sample_search,
                                   const tune::record_key& key = sample_key()) {
    return database.failed_trials(sample_function(), key, identity, "compile failed");
  }
};

stored_trial trial(std::int64_t wgs, const std::string& outcome,
                   std::vector<std::string> programs) {
  return {.configuration = sample_tuning(wgs),
          .outcome = outcome,
          .message = "because",
          .programs = std::move(programs)};
}

TEST_CASE("a database without searches knows of no failure") {
  open_database open;
  CHECK(open.failed().empty());
}

TEST_CASE("a failure with a program is known for every key, space and stage, once") {
  open_database open;
  open.record({trial(1, "compile failed", {"a"}), trial(2, "measured", {"b"}),
               trial(3, "launch failed", {"c"})});
  open.record({trial(1, "compile failed", {"a"})}, sample_search, sample_key(65));
  for (const search_identity& identity :
       {sample_search, search_identity{.space = "other", .compiler = "compiler", .stage = 3}}) {
    const auto failed = open.failed(identity, sample_key(66));
    REQUIRE(failed.size() == 1);
    CHECK(failed[0] == trial(1, "compile failed", {"a"}));
  }
}

TEST_CASE("a failure says nothing of another compiler, device or function") {
  open_database open;
  open.record({trial(1, "compile failed", {"a"})});
  search_identity other = sample_search;
  other.compiler = "newer";
  CHECK(open.failed(other).empty());
  CHECK(
      open.failed(sample_search, sample_key(64, {"GPU Two", "Some Platform", "535.104"})).empty());
  CHECK(open.failed(sample_search, sample_key(64, {"GPU One", "Some Platform", "536"})).empty());
  // Each part of the identity decides: what can run, and what only affects the speed.
  tune::device_identity device = tune::testing::sample_device();
  device.capabilities.local_memory_bytes = 49152;
  CHECK(open.failed(sample_search, sample_key(64, device)).empty());
  device = tune::testing::sample_device();
  device.performance.compute_units = 132;
  CHECK(open.failed(sample_search, sample_key(64, device)).empty());
  open.record({trial(2, "compile failed", {"b"})}, sample_search, sample_key(64, device));
  CHECK(open.failed(sample_search, sample_key(65, device)).size() == 1);
  open.database.begin_search(sample_function("f", 1), sample_key());
  CHECK(open.database
            .failed_trials(sample_function("f", 1), sample_key(), sample_search, "compile failed")
            .empty());
}

TEST_CASE("a failure without a program is known for the same key, space and stage alone") {
  open_database open;
  open.record({trial(1, "compile failed", {})});
  CHECK(open.failed().size() == 1);
  CHECK(open.failed(sample_search, sample_key(65)).empty());
  search_identity other = sample_search;
  other.space = "other";
  CHECK(open.failed(other).empty());
  other = sample_search;
  other.stage = 1;
  CHECK(open.failed(other).empty());
}

TEST_CASE("configurations that read the same are two") {
  using std::string;
  const auto configured = [](const string& a, const string& b, const string& outcome) {
    return stored_trial{.configuration = {{"a", a}, {"b", b}}, .outcome = outcome};
  };
  open_database open;
  open.record({configured("1, b=2", "3", "compile failed"), configured("1", "2, b=3", "measured")});
  const auto failed = open.failed();
  REQUIRE(failed.size() == 1);
  CHECK(tune::value(string("3")) == failed.front().configuration.back().value);
}

TEST_CASE("a program that compiled later is good, in the same search or another") {
  open_database open;
  open.record({trial(1, "compile failed", {"a"}), trial(2, "compile failed", {"b"}),
               trial(3, "compile failed", {})});
  CHECK(open.failed().size() == 3);
  SUBCASE("because it was measured") {
    open.record(
        {trial(1, "measured", {"a"}), trial(2, "measured", {"b"}), trial(3, "measured", {})});
    CHECK(open.failed().empty());
  }
  SUBCASE("because another was compiled after it") {
    open.record({trial(7, "compile failed", {"a", "c"})});
    const auto failed = open.failed();
    REQUIRE(failed.size() == 3);
    CHECK(failed[0].programs.back() == "c");
    CHECK(failed[1].programs.empty());
    CHECK(failed[2].programs.back() == "b");
  }
}

TEST_CASE("a program that failed again after it was good is a failure") {
  open_database open;
  open.record({trial(1, "measured", {"a"})});
  open.record({trial(1, "compile failed", {"a"})});
  CHECK(open.failed().size() == 1);
}

TEST_CASE("one query reads all parts that it asks for") {
  open_database open;
  open.record({trial(1, "compile failed", {"a"}), trial(2, "crashed", {})});
  open.database.store(sample_function(), sample_key(65), sample_tuning(32), 1000.0);
  const std::vector<std::string> bad{"crashed"};
  const auto all = open.database.prior(sample_function(), sample_key(),
                                       {.search = sample_search,
                                        .incident_outcomes = bad,
                                        .failure_outcome = "compile failed",
                                        .unfinished = true,
                                        .most_results = 10});
  CHECK(all.incidents.size() == 1);
  CHECK(all.failures.size() == 1);
  REQUIRE(all.unfinished);
  CHECK(all.unfinished->trials.size() == 2);
  REQUIRE(all.results.size() == 1);
  CHECK(all.results[0].values == sample_tuning(32));
  const auto none = open.database.prior(sample_function(), sample_key(), {.search = sample_search});
  CHECK((none.incidents.empty() && none.failures.empty() && none.results.empty()));
  CHECK_FALSE(none.unfinished);
}

}  // namespace prior_rows_test
