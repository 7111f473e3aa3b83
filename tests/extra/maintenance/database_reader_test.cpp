// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace database_reader_test {

namespace fs = std::filesystem;
using tune::database_access;
using tune::database_reader;
using tune::tuning_database;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

TEST_CASE("where there is no database nothing is read, and nothing is made") {
  const temporary_folder folder;
  database_reader reader(folder.file("none/tuning.db"));
  CHECK_FALSE(reader.has_tables());
  CHECK(reader.functions().empty());
  CHECK(reader.read_all().functions.empty());
  CHECK(reader.read(sample_function()).results.empty());
  CHECK(fs::is_empty(folder.path()));
  CHECK_THROWS_AS(database_reader("folder/"), tune::argument_error);
}

TEST_CASE("an empty file has no tables") {
  const temporary_folder folder;
  std::ofstream(folder.file("tuning.db")) << "";
  fs::permissions(folder.file("tuning.db"), fs::perms(0600));
  CHECK_FALSE(database_reader(folder.file("tuning.db")).has_tables());
}

TEST_CASE("functions are counted with their results, searches, trials and devices") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  const tune::device_identity other{"GPU Two", "Some Platform", "1"};
  database.store(sample_function(), sample_key(1), sample_tuning(1), 1);
  database.store(sample_function(), sample_key(2), sample_tuning(1), 1);
  database.store(sample_function(), sample_key(2, other), sample_tuning(1), 1);
  const auto search = database.begin_search(sample_function(), sample_key(1));
  for (int i = 0; i < 4; ++i) database.add_trial(search, {.outcome = "skipped"});
  database.store(sample_function("z"), sample_key(), sample_tuning(1), 1);

  database_reader reader(folder.file("tuning.db"));
  CHECK(reader.has_tables());
  const auto functions = reader.functions();
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].function == sample_function());
  CHECK(functions[0].results == 3);
  CHECK(functions[0].searches == 1);
  CHECK(functions[0].trials == 4);
  CHECK(functions[0].devices.size() == 2);
  CHECK(functions[1].trials == 0);
}

TEST_CASE("all of it is every function, each as it is alone") {
  const temporary_folder folder;
  merge_content(folder.file("tuning.db"), tune::testing::random_content(3).next());
  database_reader reader(folder.file("tuning.db"));
  const auto all = reader.read_all();
  REQUIRE_FALSE(all.functions.empty());
  for (const auto& function : all.functions) {
    const auto alone = reader.read(function.function);
    CHECK(canonical_text(tune::database_content{{alone}}) ==
          canonical_text(tune::database_content{{function}}));
    for (const auto& search : reader.read(function.function, false).searches) {
      CHECK(search.trials.empty());
    }
  }
  CHECK(reader.damaged() == 0);
}

TEST_CASE("damaged rows are left out and counted once for each reading") {
  const temporary_folder folder;
  tuning_database(folder.file("tuning.db"))
      .store(sample_function("f"), sample_key(), sample_tuning(1), 1);
  SQLite::Database(folder.file("tuning.db"), SQLite::OPEN_READWRITE)
      .exec("UPDATE f__0 SET value_wgs = 2");
  database_reader reader(folder.file("tuning.db"));
  CHECK(reader.read_all().functions.at(0).results.empty());
  CHECK(reader.damaged() == 1);
}

TEST_CASE("for reading alone nothing is written, and others may go on writing") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"));
  database.store(sample_function(), sample_key(1), sample_tuning(1), 1);
  database_reader reader(folder.file("tuning.db"), database_access::read_only);
  CHECK(reader.functions().at(0).results == 1);
  database.store(sample_function(), sample_key(2), sample_tuning(1), 1);
  CHECK(reader.functions().at(0).results == 2);
}

TEST_CASE("a file that is no database is an error that names it") {
  const temporary_folder folder;
  std::ofstream(folder.file("tuning.db")) << std::string(5000, 'x');
  fs::permissions(folder.file("tuning.db"), fs::perms(0600));
  database_reader reader(folder.file("tuning.db"));
  CHECK_THROWS_WITH_AS(reader.read_all(), doctest::Contains("tuning.db"), tune::database_error);
  CHECK_THROWS_AS(reader.has_tables(), tune::database_error);
}

}  // namespace database_reader_test
