// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/content_rows.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace content_rows_test {

using namespace std::chrono_literals;
using tune::function_content;
using tune::detail::connection;
using tune::detail::raw_table;
using tune::detail::read_content;
using tune::detail::read_result;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

constexpr const char* table = "f__0";

/// Two results and a search with two trials.
struct filled_database {
  filled_database() {
    tune::tuning_database database(path);
    database.store(sample_function("f"), sample_key(64), sample_tuning(1), 1500);
    database.store(sample_function("f"), sample_key(65), sample_tuning(2), std::nullopt);
    const auto search = database.begin_search(sample_function("f"), sample_key(64));
    for (const std::int64_t wgs : {1, 2}) {
      database.add_trial(search, {.configuration = sample_tuning(wgs), .outcome = "measured"});
    }
    opened = std::make_unique<connection>(path, 1s, 1s);
  }

  function_content read(bool with_trials = true) {
    return read_content(*opened, sample_function("f"), with_trials, damaged);
  }
  void change(const std::string& sql) { opened->database().exec(sql); }

  tune::testing::temporary_folder folder;
  std::string path = folder.file("tuning.db");
  std::unique_ptr<connection> opened;
  std::size_t damaged = 0;
};

TEST_CASE("results are read with their fields apart from their other columns") {
  filled_database database;
  const function_content content = database.read();
  REQUIRE(content.results.size() == 2);
  CHECK(content.results[0].arguments == sample_key(64).arguments);
  CHECK(content.results[0].values == sample_tuning(1));
  CHECK(content.results[0].device().name == sample_device().name);
  CHECK(content.results[0].score_ns() == 1500);
  CHECK_FALSE(content.results[1].score_ns());
  for (const char* name : {"arg_rows", "value_wgs", "checksum"}) {
    CHECK_FALSE(content.results[0].columns.contains(name));
  }
  CHECK(database.damaged == 0);
}

TEST_CASE("searches are read with their trials, or without if nobody wants them") {
  filled_database database;
  const function_content content = database.read();
  REQUIRE(content.searches.size() == 1);
  REQUIRE(content.searches[0].trials.size() == 2);
  CHECK(content.searches[0].trials[1].configuration == sample_tuning(2));
  CHECK(content.searches[0].device().name == sample_device().name);
  CHECK(database.read(false).searches[0].trials.empty());
}

TEST_CASE("damaged rows are left out and counted, wherever they are") {
  filled_database database;
  database.change("UPDATE f__0 SET value_wgs = 9 WHERE arg_rows = 65");
  CHECK(database.read().results.size() == 1);
  CHECK(database.damaged == 1);
  database.change("UPDATE libtune_trial_value SET value = 9 WHERE position = 0");
  database.damaged = 0;
  CHECK(database.read().searches[0].trials.size() == 1);
  CHECK(database.damaged == 2);
  database.change("UPDATE libtune_search SET result = 'found'");
  database.damaged = 0;
  CHECK(database.read().searches.empty());
  CHECK(database.damaged == 2);
}

TEST_CASE("a row that lacks a value of its configuration is no trial") {
  filled_database database;
  database.change("DELETE FROM libtune_trial_value WHERE position = 1");
  CHECK(database.read().searches[0].trials.size() == 1);
  CHECK(database.damaged == 1);
}

TEST_CASE("a result is found by its key, and by nothing else") {
  filled_database database;
  function_content content = database.read();
  raw_table results(*database.opened, table);
  const auto found = read_result(results, sample_function("f"), content.results[1]);
  REQUIRE(found);
  CHECK(canonical_text(*found) == canonical_text(content.results[1]));
  content.results[1].columns["device_name"] = std::string("GPU Two");
  CHECK_FALSE(read_result(results, sample_function("f"), content.results[1]));
}

TEST_CASE("what is read can be written to another database, and is the same there") {
  filled_database from;
  const function_content content = from.read();
  filled_database to;
  to.change("DELETE FROM f__0; DELETE FROM libtune_search");
  raw_table results(*to.opened, table);
  for (const auto& result : content.results) tune::detail::write_result(results, result);
  tune::detail::write_search(*to.opened, sample_function("f"), content.searches[0]);
  const function_content written = to.read();
  CHECK(canonical_text(tune::database_content{{written}}) ==
        canonical_text(tune::database_content{{content}}));
  CHECK(to.damaged == 0);
}

TEST_CASE("a result takes the place of the one with its key; a search never does") {
  filled_database database;
  function_content content = database.read();
  content.results[0].values = sample_tuning(8);
  raw_table results(*database.opened, table);
  tune::detail::write_result(results, content.results[0]);
  tune::detail::write_search(*database.opened, sample_function("f"), content.searches[0]);
  const function_content now = database.read();
  CHECK(now.results.size() == 2);
  CHECK(now.results[0].values == sample_tuning(8));
  REQUIRE(now.searches.size() == 2);
  CHECK(canonical_text(now.searches[0]) == canonical_text(now.searches[1]));
}

}  // namespace content_rows_test
