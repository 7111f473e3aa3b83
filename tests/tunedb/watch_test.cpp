// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tunedb/report/report_source.hpp"
#include "libtune/tunedb/report/running_searches.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace watch_test {

using nlohmann::json;
using tune::value_type;
using tune::cli::canonical_key;
using tune::testing::contains;
using tune::testing::filled_database;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::tunedb;
using tune::testing::tunedb_json;

/// A search that has begun and has two trials.
tune::search_id begin(tune::tuning_database& database, const tune::record_key& key,
                      const std::string& made_at) {
  const auto search = database.begin_search(sample_function(), key, {.space = "space"}, "model");
  database.add_trial(search, {.configuration = sample_tuning(64),
                              .outcome = "measured",
                              .samples_ns = {1500},
                              .score_ns = 1500,
                              .made_at = made_at});
  database.add_trial(search, {.configuration = sample_tuning(128),
                              .outcome = "compile failed",
                              .message = "no",
                              .made_at = made_at});
  return search;
}

TEST_CASE("a key comes back in the order of its fields") {
  const std::vector<tune::named_value> key{
      {"type", std::string("a;4:rows=i6;")}, {"rows", std::int64_t{-64}}, {"empty", {}}};
  const std::vector<tune::field_description> fields{{"type", value_type::string},
                                                    {"rows", value_type::int32},
                                                    {"empty", value_type::int32, true}};
  const std::string sorted = tune::detail::canonical_arguments(key);
  CHECK(canonical_key(fields, sorted) == tune::canonical_text(key));
  CHECK(canonical_key({}, "") == "");
  CHECK_FALSE(canonical_key({fields[0]}, sorted).has_value());
  for (const char* damaged :
       {"4", "4:", "4:rows", "4:rows=", "4:rows=s9:x;", "4:rows=i6", "x:rows=i6;",
        "99999999999999999999:rows=i6;", "4:rows=s99999999999999999999:x;"}) {
    CHECK_FALSE(canonical_key({{"rows", value_type::int32}}, damaged).has_value());
  }
}

TEST_CASE("a search is running while a process has the right to tune its key") {
  const filled_database here;
  tune::tuning_database database(here.path);
  CHECK(tunedb_json("watch --once").empty());
  const tune::record_key key = sample_key(32);
  begin(database, key, "2020-01-01T00:00:00Z");
  CHECK(tunedb_json("watch").empty());  // long ago, and nobody has the right: interrupted
  {
    tune::key_lock lock(here.path, tune::search_name(sample_function(), key));
    REQUIRE(lock.take(std::chrono::milliseconds(0)));
    const json running = tunedb_json("watch");
    REQUIRE(running.size() == 1);
    CHECK(running[0]["process"] == ::getpid());
    CHECK(running[0]["arguments"] == "rows=32, type=float32");
    CHECK(running[0]["strategy"] == "model");
    CHECK(running[0]["outcomes"] == json{{"measured", 1}, {"compile failed", 1}});
    CHECK(running[0]["best_ns"] == 1500);
    CHECK(running[0]["best"]["wgs"] == 64);
    CHECK(running[0]["configurations"].is_null());
    const std::string line = tunedb("watch --once").output;
    CHECK(contains(line, "2 tried: 1 measured, 1 compile failed"));
    CHECK(contains(line, "least time 1.50 us (wgs=64)"));
    CHECK(contains(line, std::to_string(::getpid())));
    CHECK(line.find('\n') == line.size() - 1);
  }
  CHECK(tunedb_json("watch").empty());
}

TEST_CASE("a search that was stopped is running again while a process continues it") {
  const filled_database here;
  tune::tuning_database database(here.path);
  const tune::record_key key = sample_key(32);
  const auto search = begin(database, key, {});
  database.finish_search(search, tune::stopped_search);
  CHECK(tunedb_json("watch").empty());
  tune::key_lock lock(here.path, tune::search_name(sample_function(), key));
  REQUIRE(lock.take(std::chrono::milliseconds(0)));
  CHECK(tunedb_json("watch").size() == 1);
}

TEST_CASE("a search without a lock is running while it stores trials, and not once it has ended") {
  const filled_database here;
  tune::tuning_database database(here.path);
  const auto search = begin(database, sample_key(16), {});
  const json running = tunedb_json("watch");
  REQUIRE(running.size() == 1);
  CHECK(running[0]["process"].is_null());
  CHECK(contains(tunedb("watch --once").output, "without a lock"));
  database.finish_search(search, "found",
                         {.strategy = "model",
                          .ending = "complete",
                          .space = tune::stored_space{.combinations = 9, .configurations = 7}});
  CHECK(tunedb_json("watch").empty());
  // The next search of the same space says of how many.
  begin(database, sample_key(16), {});
  CHECK(tunedb_json("watch")[0]["configurations"] == 7);
  CHECK(contains(tunedb("watch --once").output, "2 of 7 tried"));
}

TEST_CASE("names of a database cannot move the cursor of a terminal") {
  const filled_database here;
  tune::tuning_database database(here.path);
  auto key = sample_key(16);
  key.arguments[1].value = std::string("\033[2Jevil\n");
  begin(database, key, {});
  const std::string line = tunedb("watch --once").output;
  CHECK(contains(line, "?[2Jevil?"));
  CHECK(line.find('\033') == std::string::npos);
}

TEST_CASE("nothing is watched where there is no database") {
  const filled_database here;
  CHECK(tunedb("watch --once --db " + here.folder.file("none.db")).code == 0);
  CHECK_FALSE(std::filesystem::exists(here.folder.file("none.db")));
}

TEST_CASE("a database is read again when it has changed, and before there is one") {
  const filled_database here;
  const std::string path = here.folder.file("later.db");
  tune::cli::report_source source({.databases = {path}});
  const auto empty = source.now();
  CHECK(json::parse(empty->text)["searches"].empty());
  CHECK(source.now() == empty);
  tune::tuning_database database(path);
  begin(database, sample_key(), {});
  const auto filled = source.now();
  CHECK(filled->stamp != empty->stamp);
  CHECK(json::parse(filled->text)["searches"].size() == 1);
}

}  // namespace watch_test
