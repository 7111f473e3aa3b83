// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace prior_rows_test {

using namespace tune::testing;
using tune::search_identity;
using tune::stored_trial;

/// A search of stage 0.
const search_identity sample_search{
    .space = "space", .compiler = "compiler", .library_version = "1", .stage = 0};

/// A database of its own, with the searches of sample_function() that a test records.
struct recorded_searches {
  temporary_folder folder;
  tune::tuning_database database{folder.file("tuning.db")};

  void record(const std::vector<stored_trial>& trials,
              const search_identity& identity = sample_search,
              const tune::record_key& key = sample_key()) {
    const auto id = database.begin_search(sample_function(), key, identity);
    for (const stored_trial& trial : trials) database.add_trial(id, trial);
  }
};

const std::vector<std::string> bad{"crashed", "timed out"};

struct open_database : recorded_searches {
  std::vector<stored_trial> incidents(const search_identity& identity = sample_search,
                                      const tune::record_key& key = sample_key()) {
    return database.prior(sample_function(), key, {.search = identity, .incident_outcomes = bad})
        .incidents;
  }
  std::vector<stored_trial> failed(const search_identity& identity = sample_search,
                                   const tune::record_key& key = sample_key()) {
    return database
        .prior(sample_function(), key, {.search = identity, .failure_outcome = "compile failed"})
        .failures;
  }
};

stored_trial trial(std::int64_t wgs, const std::string& outcome,
                   std::vector<std::string> programs) {
  return {.configuration = sample_tuning(wgs),
          .outcome = outcome,
          .message = "because",
          .programs = std::move(programs)};
}

TEST_CASE_FIXTURE(open_database, "a database without searches has no failure and no incident") {
  CHECK(failed().empty());
  CHECK(incidents().empty());
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

TEST_CASE_FIXTURE(open_database, "a failure says nothing of another compiler, device or function") {
  record({trial(1, "compile failed", {"a"})});
  search_identity other = sample_search;
  other.compiler = "newer";
  CHECK(failed(other).empty());
  CHECK(failed(sample_search, sample_key(64, {"GPU Two", "Some Platform", "535.104"})).empty());
  CHECK(failed(sample_search, sample_key(64, {"GPU One", "Some Platform", "536"})).empty());
  // Each part of the identity decides: what can run, and what only affects the speed.
  tune::device_identity device = sample_device();
  device.capabilities.local_memory_bytes = 49152;
  CHECK(failed(sample_search, sample_key(64, device)).empty());
  device = sample_device();
  device.performance.compute_units = 132;
  CHECK(failed(sample_search, sample_key(64, device)).empty());
  record({trial(2, "compile failed", {"b"})}, sample_search, sample_key(64, device));
  CHECK(failed(sample_search, sample_key(65, device)).size() == 1);
  database.begin_search(sample_function("f", 1), sample_key());
  CHECK(database
            .prior(sample_function("f", 1), sample_key(),
                   {.search = sample_search, .failure_outcome = "compile failed"})
            .failures.empty());
}

TEST_CASE_FIXTURE(open_database,
                  "a failure without a program is known for the same key, space and stage alone") {
  record({trial(1, "compile failed", {})});
  CHECK(failed().size() == 1);
  CHECK(failed(sample_search, sample_key(65)).empty());
  search_identity other = sample_search;
  other.space = "other";
  CHECK(failed(other).empty());
  other = sample_search;
  other.stage = 1;
  CHECK(failed(other).empty());
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

TEST_CASE_FIXTURE(open_database, "a program that failed again after it was good is a failure") {
  record({trial(1, "measured", {"a"})});
  record({trial(1, "compile failed", {"a"})});
  CHECK(failed().size() == 1);
}

TEST_CASE_FIXTURE(open_database, "one query reads all parts that it asks for") {
  record({trial(1, "compile failed", {"a"}), trial(2, "crashed", {})});
  const auto all = database.prior(sample_function(), sample_key(),
                                  {.search = sample_search,
                                   .incident_outcomes = bad,
                                   .failure_outcome = "compile failed",
                                   .unfinished = true});
  CHECK(all.incidents.size() == 1);
  CHECK(all.failures.size() == 1);
  REQUIRE(all.unfinished);
  CHECK(all.unfinished->trials.size() == 2);
  const auto none = database.prior(sample_function(), sample_key(), {.search = sample_search});
  CHECK((none.incidents.empty() && none.failures.empty()));
  CHECK_FALSE(none.unfinished);
}

struct searched : recorded_searches {
  void search(const std::string& space, const std::string& outcome,
              const std::vector<std::string>& programs,
              const tune::record_key& key = sample_key()) {
    const auto id = database.begin_search(
        sample_function(), key,
        {.space = space, .compiler = "nvrtc", .library_version = "0.1.0", .stage = 1});
    database.add_trial(id, {.configuration = sample_tuning(32), .outcome = "measured"});
    database.add_trial(
        id, {.configuration = sample_tuning(64), .outcome = outcome, .programs = programs});
  }
  auto origin(const tune::record_key& key = sample_key()) {
    return database.origin(sample_function(), key, sample_tuning(64));
  }
};

TEST_CASE("the origin of a result is the latest trial that measured it") {
  searched with;
  with.search("old", "measured", {"aa"});
  with.search("new", "measured", {"bb", "cc"});
  with.search("failed", "compile failed", {"dd"});
  const auto origin = with.origin();
  REQUIRE(origin);
  CHECK(
      origin->search ==
      search_identity{.space = "new", .compiler = "nvrtc", .library_version = "0.1.0", .stage = 1});
  CHECK(origin->programs == std::vector<std::string>{"bb", "cc"});
  CHECK(origin->searched_at.size() == 20);
}

TEST_CASE("the origin of a result is not the trial of one that reads the same") {
  using std::string;
  const std::vector<tune::named_value> wanted{{"a", string("1, b=2")}, {"b", string("3")}};
  const std::vector<tune::named_value> alike{{"a", string("1")}, {"b", string("2, b=3")}};
  searched with;
  const auto id = with.database.begin_search(sample_function(), sample_key(), {.space = "space"});
  with.database.add_trial(id,
                          {.configuration = wanted, .outcome = "measured", .programs = {"right"}});
  with.database.add_trial(id,
                          {.configuration = alike, .outcome = "measured", .programs = {"wrong"}});
  const auto origin = with.database.origin(sample_function(), sample_key(), wanted);
  REQUIRE(origin);
  CHECK(origin->programs == std::vector<string>{"right"});
}

TEST_CASE("a result of another key, device or configuration has no origin here") {
  searched with;
  CHECK_FALSE(with.origin());  // there is not even a file
  with.search("space", "measured", {"aa"});
  CHECK_FALSE(with.origin(sample_key(65)));
  CHECK_FALSE(with.origin(sample_key(64, {"GPU One", "Some Platform", "999"})));
  CHECK_FALSE(with.database.origin(sample_function(), sample_key(), sample_tuning(128)));
  CHECK_FALSE(with.database.origin(sample_function("f"), sample_key(), sample_tuning(64)));
}

TEST_CASE("a damaged trial or search is no origin") {
  searched with;
  with.search("space", "measured", {"aa"});
  const char* damage = nullptr;
  SUBCASE("the trial") { damage = "UPDATE libtune_trial SET programs = 'zz'"; }
  SUBCASE("the search") { damage = "UPDATE libtune_search SET space = 'zz'"; }
  SQLite::Database(with.database.path(), SQLite::OPEN_READWRITE).exec(damage);
  CHECK_FALSE(with.origin());
}

stored_trial incident(std::int64_t wgs, const std::string& outcome,
                      const std::string& message = {}) {
  return {.configuration = sample_tuning(wgs), .outcome = outcome, .message = message};
}

TEST_CASE_FIXTURE(open_database,
                  "incidents are known for their key, in whatever space, the latest first") {
  record({incident(1, "crashed", "first"), incident(2, "measured"), incident(3, "timed out")});
  search_identity larger = sample_search;
  larger.space = "larger";
  record({incident(1, "timed out", "second")}, larger);
  for (const search_identity& identity : {sample_search, larger}) {
    const auto found = incidents(identity);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == incident(1, "timed out", "second"));
    CHECK(found[1] == incident(3, "timed out"));
    CHECK(found[2] == incident(1, "crashed", "first"));
  }
}

TEST_CASE_FIXTURE(open_database,
                  "an incident says nothing of another key, compiler, libtune, stage or device") {
  record({incident(1, "crashed")});
  CHECK(incidents().size() == 1);
  CHECK(incidents(sample_search, sample_key(65)).empty());
  CHECK(incidents(sample_search, sample_key(64, {"GPU One", "Some Platform", "536"})).empty());
  search_identity other = sample_search;
  SUBCASE("compiler") { other.compiler = "newer"; }
  SUBCASE("libtune") { other.library_version = "2"; }
  SUBCASE("stage") { other.stage = 1; }
  CHECK(incidents(other).empty());
}

TEST_CASE_FIXTURE(open_database, "what was only remembered does not count") {
  stored_trial remembered = incident(1, "crashed");
  remembered.remembered = true;
  record({remembered});
  CHECK(incidents().empty());
}

TEST_CASE("the incidents of a database are listed with what they are of, and forgotten for good") {
  recorded_searches open;
  open.record({incident(1, "crashed", "first"), incident(2, "measured"), incident(3, "timed out")});
  open.record({incident(1, "crashed", "other key")}, sample_search, sample_key(65));
  const auto all = [](const tune::stored_incident&) { return true; };
  const std::string path = open.database.path();
  const auto listed = tune::list_incidents(path, bad, all);
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].trial == incident(1, "crashed", "first"));
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
  const temporary_folder folder;
  const std::string path = folder.file("none.db");
  const auto all = [](const tune::stored_incident&) { return true; };
  CHECK(tune::list_incidents(path, bad, all).empty());
  CHECK(tune::forget_incidents(path, bad, all) == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace prior_rows_test
