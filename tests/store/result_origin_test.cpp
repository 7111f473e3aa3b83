// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/result_origin.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace result_origin_test {

using tune::search_identity;
using tune::tuning_database;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

struct searched {
  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  tuning_database database{path};

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
  SUBCASE("a field of the configuration") { damage = "DELETE FROM libtune_trial_value"; }
  SQLite::Database(with.path, SQLite::OPEN_READWRITE).exec(damage);
  CHECK_FALSE(with.origin());
}

}  // namespace result_origin_test
