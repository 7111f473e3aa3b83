// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/content_rows.hpp"

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
using tune::function_identity;
using tune::value_type;
using tune::detail::connection;
using tune::detail::raw_table;
using tune::detail::read_content;
using tune::detail::read_functions;
using tune::detail::read_result;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

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

TEST_CASE("damaged rows are left out and counted, wherever they are") {
  filled_database database;
  database.change("UPDATE f__0 SET value_wgs = 9 WHERE arg_rows = 65");
  CHECK(database.read().results.size() == 1);
  CHECK(database.damaged == 1);
  database.change("UPDATE libtune_trial SET configuration = '{}' WHERE position = 0");
  database.damaged = 0;
  CHECK(database.read().searches[0].trials.size() == 1);
  CHECK(database.damaged == 2);
  database.change("UPDATE libtune_search SET result = 'found'");
  database.damaged = 0;
  CHECK(database.read().searches.empty());
  CHECK(database.damaged == 2);
}

TEST_CASE("a result takes the place of the one with its key; a search never does") {
  filled_database database;
  function_content content = database.read();
  content.results[0].values = sample_tuning(8);
  raw_table results(*database.opened, table);
  tune::detail::write_result(results, content.results[0]);
  tune::detail::search_tables tables(*database.opened);
  tune::detail::write_search(*database.opened, tables, sample_function("f"), content.searches[0]);
  const function_content now = database.read();
  CHECK(now.results.size() == 2);
  CHECK(now.results[0].values == sample_tuning(8));
  REQUIRE(now.searches.size() == 2);
  CHECK(canonical_text(now.searches[0]) == canonical_text(now.searches[1]));
}

void store(const std::string& path, const function_identity& function) {
  tune::tuning_database(path).store(function, sample_key(), sample_tuning(1), 1);
}

std::vector<function_identity> functions_of(const std::string& path, std::size_t damaged = 0) {
  connection opened(path, 1s, 1s);
  std::size_t found = 0;
  std::vector<function_identity> functions = read_functions(opened, found);
  CHECK(found == damaged);
  return functions;
}

TEST_CASE("functions come by name and version, with their fields in order") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const std::vector<function_identity> stored{sample_function("a.b", 2), sample_function("a.b", 10),
                                              sample_function("z", 0)};
  for (const std::size_t i : {2, 1, 0}) store(path, stored[i]);
  CHECK(functions_of(path) == stored);
}

TEST_CASE("optional fields and every type are known again") {
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  const function_identity function{
      .name = "f",
      .version = 1,
      .key_fields = {{"z", value_type::uint64, true}, {"a", value_type::enumeration}},
      .value_fields = {{"x", value_type::float64, true}}};
  tune::tuning_database(path).store(function,
                                    {.arguments = {{"z", tune::value()}, {"a", std::string("e")}},
                                     .device = tune::testing::sample_device()},
                                    {{"x", 0.5}}, 1);
  CHECK(functions_of(path) == std::vector{function});
}

TEST_CASE("a function whose table is gone, or is another, is left out and counted") {
  for (const char* change :
       {"DROP TABLE f__0", "ALTER TABLE f__0 RENAME COLUMN value_wgs TO value_other",
        "UPDATE libtune_function SET columns = 'arg_rows nonsense'",
        "UPDATE libtune_function SET version = 1"}) {
    CAPTURE(change);
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    store(path, sample_function("f"));
    store(path, sample_function("g"));
    std::string sql = change;
    if (sql.starts_with("UPDATE")) sql += " WHERE name = 'f'";
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
    const bool gone = sql.starts_with("DROP");
    if (gone) {
      connection opened(path, 1s, 1s);
      std::size_t damaged = 0;
      CHECK_THROWS_AS(read_functions(opened, damaged), SQLite::Exception);
    } else {
      CHECK(functions_of(path, 1) == std::vector{sample_function("g")});
    }
  }
}

}  // namespace content_rows_test
