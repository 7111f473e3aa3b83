// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace maintenance_commands_test {

using namespace tune::testing;
using nlohmann::json;
using tune::tuning_lock;

TEST_CASE_FIXTURE(
    filled_database,
    "denylist lists configurations with their incidents, and clears those that are asked for") {
  const auto crash = [&](const tune::record_key& key, std::int64_t wgs) {
    tune::tuning_database database(path);
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

TEST_CASE_FIXTURE(filled_database,
                  "prune removes what is asked for, and with --dry-run only counts it") {
  CHECK(tunedb_json("prune --function other --dry-run")["functions"] == 1);
  CHECK(tunedb_json("list").size() == 2);
  CHECK(tunedb_json("prune --older-than 1")["results"] == 0);
  CHECK(tunedb_json("prune --function other")["results"] == 1);
  CHECK(tunedb_json("list").size() == 1);
  CHECK(tunedb_json("prune --device 'GPU One' --yes")["searches"] == 1);
  CHECK(tunedb_json("list")[0]["results"] == 0);
}

TEST_CASE_FIXTURE(filled_database, "prune takes dates for dates, and nothing else") {
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

TEST_CASE_FIXTURE(filled_database,
                  "prune that removes more than it keeps shows it and wants --yes") {
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

TEST_CASE_FIXTURE(filled_database,
                  "check finds a damaged row and files that others may write, and returns 4") {
  CHECK(tunedb_json("check")["good"] == true);
  CHECK(contains(tunedb("check").output, "of 2 results 1 say"));
  ::chmod(path.c_str(), 0666);
  CHECK(tunedb("check").code == 4);
  ::chmod(path.c_str(), 0600);
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE \"other__3\" SET \"value_wgs\" = 77");
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

TEST_CASE_FIXTURE(
    filled_database,
    "missed lists keys without a result, leaves out those that have one, and forgets them") {
  const scoped_environment file("LIBTUNE_MISSED", nullptr);
  CHECK(tunedb_json("missed")["keys"].empty());
  const tune::missed_keys missed(path + "-missed");
  missed.remember(sample_function(), sample_key());  // of which there is a result
  missed.remember(sample_function(), sample_key(7));
  missed.remember(sample_function("other", 3), sample_key(8));
  const json all = tunedb_json("missed");
  CHECK(all["path"] == path + "-missed");
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
  CHECK_FALSE(std::filesystem::exists(path + "-missed"));
  const scoped_environment off("LIBTUNE_MISSED", "off");
  CHECK(tunedb("missed").code == 3);
}

TEST_CASE_FIXTURE(filled_database,
                  "lock writes the results of a database with the digests of their programs") {
  const std::string file = folder.file("release.lock");
  const json told = tunedb_json("lock " + file);
  CHECK(told["results"] == 2);
  CHECK(told["functions"] == 2);
  CHECK(told["with_programs"] == 1);
  const tuning_lock lock = tuning_lock::from_json(read(file));
  const auto* found = lock.find(sample_function(), sample_key());
  REQUIRE(found != nullptr);
  CHECK(found->values == sample_tuning(64));
  CHECK(found->programs == std::vector<std::string>{"0123abcd"});
  CHECK(found->score_ns == 1500);
  CHECK(lock.find(sample_function("other", 3), sample_key(32)) != nullptr);
  CHECK(tunedb("lock - ").output == read(file));
}

TEST_CASE_FIXTURE(filled_database, "lock takes the functions, keys and devices that are named") {
  CHECK(tuning_lock::from_json(tunedb("lock - --function other").output).size() == 1);
  CHECK(tuning_lock::from_json(tunedb("lock - --function other__3").output).size() == 1);
  CHECK(tunedb("lock - --function other__2 2>&1").code == 3);
  CHECK(tunedb("lock - --device None 2>&1").code == 3);
  const std::string keys = folder.file("keys.json");
  std::ofstream(keys) << R"([{"function": "multiply_template.autotune",
                              "key": {"rows": 64, "type": "float32"}}])";
  CHECK(tuning_lock::from_json(tunedb("lock - --keys " + keys).output).size() == 1);
  std::ofstream(keys) << R"([{"function": "multiply_template.autotune",
                              "key": {"rows": 65, "type": "float32"}}])";
  const std::string file = folder.file("release.lock");
  const ended refused = tunedb("lock " + file + " --keys " + keys + " 2>&1");
  CHECK(refused.code == 3);
  CHECK(contains(refused.output, "multiply_template.autotune version 0: rows=65, type=float32"));
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE_FIXTURE(filled_database,
                  "lock replaces an earlier lock, and no other file or the database") {
  const std::string file = folder.file("release.lock");
  CHECK(tunedb("lock " + file).code == 0);
  CHECK(tunedb("lock " + file).code == 0);
  std::ofstream(file) << "notes";
  CHECK(tunedb("lock " + file + " 2>&1").code == 1);
  CHECK(tunedb("lock " + file + " --force").code == 0);
  CHECK(tunedb("lock " + path + " --force 2>&1").code == 1);
}

TEST_CASE_FIXTURE(filled_database,
                  "diff of a database and its lock finds nothing, and then what has changed") {
  const std::string file = folder.file("release.lock");
  REQUIRE(tunedb("lock " + file).code == 0);
  const ended same = tunedb("diff " + file + " " + path);
  CHECK(same.code == 0);
  CHECK(same.output == "2 results, all the same\n");
  CHECK(tune::detail::parse_json<json>(tunedb("diff " + file + " " + file + " --json").output)
            .empty());

  {
    tune::tuning_database database(path);
    database.store(sample_function(), sample_key(), sample_tuning(128), 1200);
    database.store(sample_function(), sample_key(65), sample_tuning(32), 900);
  }
  const ended run = tunedb("diff " + file + " " + path + " --json");
  CHECK(run.code == 8);
  const json changes = tune::detail::parse_json<json>(run.output);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]["change"] == "other tuning");
  CHECK(changes[0]["function"] == function);
  CHECK(changes[0]["before"]["values"]["wgs"] == 64);
  CHECK(changes[0]["after"]["values"]["wgs"] == 128);
  CHECK(changes[1]["change"] == "added");
  CHECK(changes[1]["before"].is_null());
  const ended back = tunedb("diff " + path + " " + file);
  CHECK(back.code == 8);
  CHECK(contains(back.output, "removed"));
  CHECK(contains(back.output, "+25.0 %"));
}

TEST_CASE_FIXTURE(filled_database, "diff tells an equal tuning of another kernel") {
  const std::string file = folder.file("release.lock");
  json lock = tune::detail::parse_json<json>(tunedb("lock -").output);
  lock["functions"][0]["results"][0]["programs"] = {"ffff"};
  std::ofstream(file) << lock.dump();
  const ended run = tunedb("diff " + file + " " + path);
  CHECK(run.code == 8);
  CHECK(contains(run.output, "other kernel"));
}

TEST_CASE_FIXTURE(filled_database, "diff names a file that is neither a database nor a lock") {
  const std::string file = folder.file("release.lock");
  std::ofstream(file) << "{}";
  const ended no_lock = tunedb("diff " + file + " " + path + " 2>&1");
  CHECK(no_lock.code == 1);
  CHECK(contains(no_lock.output, "release.lock' is no lock"));
  CHECK(tunedb("diff " + folder.file("none") + " " + path + " 2>&1").code == 3);
}

TEST_CASE_FIXTURE(filled_database, "explain says what a program with a lock uses") {
  const std::string file = folder.file("release.lock");
  REQUIRE(tunedb("lock " + file).code == 0);
  const scoped_environment lock("LIBTUNE_LOCK", file.c_str());
  const std::string of = "explain " + function + " --device 'GPU One' --arg type=float32 --arg ";
  const ended found = tunedb(of + "rows=64");
  CHECK(found.code == 0);
  CHECK(contains(found.output, "LIBTUNE_LOCK names '" + file + "'"));
  CHECK(contains(found.output, "wgs=64"));
  const ended missing = tunedb(of + "rows=65 2>&1");
  CHECK(missing.code == 3);
  CHECK(contains(missing.output, "it has this function, but not this key"));
}

// The commands with a database that has a portfolio for ranges of sizes.

const tune::function_identity ranged{
    "ranged", 1, {{"rows", tune::value_type::string}}, {{"portfolio", tune::value_type::string}}};
constexpr const char* line =
    "portfolio of 2 tunings in 2 leaves, compared at 12 sizes: 1.0 % slower than tuning each size, "
    "2.0 % at most at nine of ten";

tune::record_key ranged_key() {
  tune::record_key made = sample_key();
  made.arguments = {{"rows", std::string("1..4096")}};
  return made;
}

tune::detail::stored_portfolio portfolio() {
  return {.ranges = {{1, 4096}},
          .configurations = {{{"wgs", std::int64_t{64}}}, {{"wgs", std::int64_t{128}}}},
          .tree = tune::size_tree({{.threshold = 8, .coordinate = 0, .below = 1, .above = 2},
                                   {.threshold = 0, .coordinate = -1, .below = 0},
                                   {.threshold = 0, .coordinate = -1, .below = 1}}),
          .orders = {{}, {0, 1}, {1, 0}},
          .proven = {{{5000}, {1, 0}}},
          .left = {{7000}},
          .expected_loss = 0.01,
          .worst_loss = 0.02,
          .sizes = 12,
          .compared = 5};
}

/// A database with one portfolio.
struct with_portfolio {
  with_portfolio() {
    tune::tuning_database(path).store(ranged, ranged_key(), {{"portfolio", portfolio().text()}},
                                      1500);
  }

  temporary_folder folder;
  std::string path = folder.file("tuning.db");
  scoped_environment variable{"LIBTUNE_DB", path.c_str()};
  scoped_environment system{"LIBTUNE_SYSTEM_DB", nullptr};
  scoped_environment match{"LIBTUNE_MATCH", nullptr};
  scoped_environment mode{"LIBTUNE_MODE", nullptr};
  scoped_environment missed{"LIBTUNE_MISSED", nullptr};
};

TEST_CASE("a portfolio is one line for people, and whole for programs") {
  const with_portfolio here;
  CHECK(contains(tunedb("list").output, "ranged"));
  CHECK(contains(tunedb("show ranged").output, line));
  const std::string explained =
      tunedb("explain ranged --arg rows=1..4096 --device 'GPU One'").output;
  CHECK(contains(explained, line));
  CHECK(contains(explained, "wgs=64: in 1 leaf"));
  CHECK_FALSE(contains(explained, "how sure"));
  const std::string shown = tunedb("show ranged --json").output;
  CHECK(contains(shown, "configurations"));
  CHECK(tunedb("check").code == 0);
}

TEST_CASE("an exported portfolio is the same when it is imported") {
  const with_portfolio here;
  const std::string file = here.folder.file("results.json");
  CHECK(tunedb("export " + file).code == 0);
  std::filesystem::remove(here.path);
  CHECK(tunedb("import " + file).code == 0);
  const auto found = tune::tuning_database(here.path).find(ranged, ranged_key());
  REQUIRE(found);
  CHECK(found->values == std::vector<tune::named_value>{{"portfolio", portfolio().text()}});
}

TEST_CASE("a portfolio is missed where it was asked for sizes that it does not know") {
  const with_portfolio here;
  const tune::missed_keys noted(tune::missed_keys::path_beside(here.path));
  const std::vector<tune::asked_count> known{{{17}, 90}, {{5000}, 3}, {{7000}, 1}};
  noted.remember(ranged, ranged_key(), known);
  CHECK(tunedb_json("missed")["keys"].empty());
  const std::vector<tune::asked_count> more{{{6000}, 2}};
  noted.remember(ranged, ranged_key(), more);
  const json all = tunedb_json("missed")["keys"];
  REQUIRE(all.size() == 1);
  CHECK(all[0]["asked"].size() == 4);
  CHECK(contains(tunedb("missed").output, "17 (90 times), 5000 (3 times), 6000 (2 times)"));
}

}  // namespace maintenance_commands_test
