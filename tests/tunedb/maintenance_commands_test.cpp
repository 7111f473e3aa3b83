// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include "libtune/store/database/missed_keys.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace maintenance_commands_test {

using nlohmann::json;
using tune::testing::contains;
using tune::testing::ended;
using tune::testing::filled_database;
using tune::testing::function;
using tune::testing::read;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::scoped_environment;
using tune::testing::temporary_folder;
using tune::testing::tunedb;
using tune::testing::tunedb_json;

TEST_CASE(
    "denylist lists configurations with their incidents, and clears those that are asked for") {
  const filled_database here;
  const auto crash = [&](const tune::record_key& key, std::int64_t wgs) {
    tune::tuning_database database(here.path);
    const auto search = database.begin_search(sample_function(), key);
    database.add_trial(search, {.configuration = sample_tuning(wgs),
                                .outcome = "crashed",
                                .message = "its process ended"});
  };
  CHECK(tunedb_json("denylist")["entries"].empty());
  crash(sample_key(), 256);
  crash(sample_key(), 256);
  crash(sample_key(65), 256);
  const json listed = tunedb_json("denylist")["entries"];
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]["function"] == function);
  CHECK(listed[0]["configuration"]["wgs"] == 256);
  CHECK(listed[0]["incidents"] == 2);
  CHECK(listed[0]["denied"] == true);
  CHECK(listed[0]["outcome"] == "crashed");
  CHECK(listed[0]["reason"] == "its process ended");
  CHECK_FALSE(listed[0]["first_at"].get<std::string>().empty());
  CHECK(listed[1]["denied"] == false);
  CHECK(contains(tunedb("denylist").output, "crashed: its process ended"));
  const std::string key = "--function " + function + " --arg rows=65 --arg type=float32";
  CHECK(tunedb_json("denylist " + key)["entries"].size() == 1);
  CHECK(tunedb_json("denylist --device Other")["entries"].empty());

  CHECK(tunedb_json("denylist --clear " + key)["cleared"] == 1);
  CHECK(tunedb_json("denylist")["entries"].size() == 1);
  CHECK(tunedb_json("denylist --clear --function other")["cleared"] == 0);
  CHECK(contains(tunedb("denylist --clear").output, "cleared 2 incidents"));
  CHECK(tunedb_json("denylist")["entries"].empty());
  CHECK(tunedb("denylist --arg rows=65 2>&1").code == 2);
}

TEST_CASE("prune removes what is asked for, and with --dry-run only counts it") {
  const filled_database here;
  CHECK(tunedb_json("prune --function other --dry-run")["functions"] == 1);
  CHECK(tunedb_json("list").size() == 2);
  CHECK(tunedb_json("prune --older-than 1")["results"] == 0);
  CHECK(tunedb_json("prune --function other")["results"] == 1);
  CHECK(tunedb_json("list").size() == 1);
  CHECK(tunedb_json("prune --device 'GPU One' --yes")["searches"] == 1);
  CHECK(tunedb_json("list")[0]["results"] == 0);
}

TEST_CASE("prune takes dates for dates, and nothing else") {
  const filled_database here;
  for (const char* text : {"yesterday", "31.12.2019", "2026/01/01", "'Jan 2020'", "2024-02-30",
                           "2024-13-01", "24-01-01", "2024-01-01x", "2024-01-01T25:00", "30d"}) {
    CAPTURE(text);
    const ended run = tunedb(std::string("prune --yes --before ") + text + " 2>&1");
    CHECK(run.code == 2);
    CHECK(contains(run.output, "is no date"));
  }
  for (const char* text : {"x", "1w", "-1", "1.5", "99999999999"}) {
    CAPTURE(text);
    CHECK(tunedb(std::string("prune --yes --older-than=") + text + " 2>/dev/null").code == 2);
  }
  CHECK(tunedb_json("list")[0]["results"] == 1);
  for (const char* old : {"--before 2020-01-31", "--before '2020-01-31 12:00'", "--older-than 12h",
                          "--before 2020-01-31T12:00:00Z", "--older-than 4000000000"}) {
    CAPTURE(old);
    CHECK(tunedb_json(std::string("prune --yes ") + old)["results"] == 0);
  }
  CHECK(tunedb_json("prune --yes --before 2999-01-01")["results"] == 2);
}

TEST_CASE("prune that removes more than it keeps shows it and wants --yes") {
  const filled_database here;
  const std::string before = tunedb("export").output;
  const ended shown = tunedb("prune --before 2999-01-01 2>&1 </dev/null");
  CHECK(shown.code == 1);
  CHECK(contains(shown.output, "--yes"));
  CHECK(contains(shown.output, function));
  CHECK(contains(shown.output, "1 of 1"));
  CHECK(tunedb("prune --before 2999-01-01 --json 2>/dev/null").code == 1);
  CHECK(tunedb("export").output == before);
  CHECK(tunedb("prune --before 2999-01-01 --yes").code == 0);
}

TEST_CASE("check finds a damaged row and files that others may write, and returns 4") {
  const filled_database here;
  CHECK(tunedb_json("check")["good"] == true);
  CHECK(contains(tunedb("check").output, "of 2 results 1 say"));
  ::chmod(here.path.c_str(), 0666);
  CHECK(tunedb("check").code == 4);
  ::chmod(here.path.c_str(), 0600);
  SQLite::Database(here.path, SQLite::OPEN_READWRITE)
      .exec("UPDATE \"other__3\" SET \"value_wgs\" = 77");
  const ended run = tunedb("check --json");
  CHECK(run.code == 4);
  CHECK(json::parse(run.output)["good"] == false);
}

TEST_CASE("a database of another application is refused and left as it is") {
  const temporary_folder folder;
  const std::string path = folder.file("places.sqlite");
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = 42; CREATE TABLE bookmarks (url TEXT)");
  const std::string before = read(path);
  const filled_database here;
  for (const char* command : {"list", "prune --orphans", "export"}) {
    CAPTURE(command);
    CHECK(tunedb("--db " + path + " " + command + " 2>/dev/null").code == 1);
  }
  CHECK(tunedb("--db " + path + " merge " + here.path + " 2>/dev/null").code == 1);
  CHECK(tunedb("--db " + path + " check").code == 4);
  CHECK(read(path) == before);
}

TEST_CASE("missed lists keys without a result, leaves out those that have one, and forgets them") {
  const filled_database here;
  const scoped_environment file("LIBTUNE_MISSED", nullptr);
  CHECK(tunedb_json("missed")["keys"].empty());
  const tune::missed_keys missed(here.path + "-missed");
  missed.remember(sample_function(), sample_key());  // of which there is a result
  missed.remember(sample_function(), sample_key(7));
  missed.remember(sample_function("other", 3), sample_key(8));
  const json all = tunedb_json("missed");
  CHECK(all["path"] == here.path + "-missed");
  REQUIRE(all["keys"].size() == 2);
  CHECK(all["keys"][0]["function"] == function);
  CHECK(all["keys"][0]["arguments"]["rows"] == 7);
  CHECK(all["keys"][0]["device"]["name"] == "GPU One");
  CHECK(all["keys"][0]["program"] != "");
  const std::string text = tunedb("missed --function other__3").output;
  CHECK(contains(text, "other__3"));
  CHECK(contains(text, "rows=8"));
  CHECK_FALSE(contains(text, "rows=7"));
  CHECK(tunedb_json("missed --clear --function other")["removed"] == 1);
  CHECK(tunedb_json("missed")["keys"].size() == 1);
  CHECK(contains(tunedb("missed --clear").output, "removed 2 keys"));
  CHECK_FALSE(std::filesystem::exists(here.path + "-missed"));
  const scoped_environment off("LIBTUNE_MISSED", "off");
  CHECK(tunedb("missed").code == 3);
}

}  // namespace maintenance_commands_test
