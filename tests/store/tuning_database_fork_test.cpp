// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A process that forks after it has used a database.
#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/store/tuning_database.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_fork_test {

using namespace std::chrono_literals;
using tune::tuning_database;
using tune::testing::in_child;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

constexpr tune::database_waits patient{.read = 60s, .write = 60s};

bool has(tuning_database& database, std::int64_t rows, std::int64_t wgs) {
  const auto found = database.find(sample_function(), sample_key(rows));
  return found && found->values == sample_tuning(wgs);
}

bool stores(tuning_database& database, std::int64_t rows) {
  database.store(sample_function(), sample_key(rows), sample_tuning(rows), 1);
  return has(database, rows, rows);
}

TEST_CASE("a child goes on with the object of its parent, and neither disturbs the other") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"), patient);
  REQUIRE(stores(database, 1));
  CHECK(in_child([&] { return has(database, 1, 1) && stores(database, 2); }) == 1);
  CHECK(has(database, 2, 2));
  CHECK(stores(database, 3));
  CHECK(in_child([&] {
          return has(database, 3, 3) && in_child([&] { return stores(database, 4); }) == 1;
        }) == 1);
  CHECK(has(database, 4, 4));
  SQLite::Database opened(database.path());
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE("children of a process whose threads write find the database at rest") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"), patient);
  REQUIRE(stores(database, 0));
  std::atomic<bool> done{false};
  std::atomic<int> faults{0};
  {
    std::vector<std::jthread> writers;
    for (int thread = 1; thread <= 2; ++thread) {
      writers.emplace_back([&, thread] {
        while (!done) {
          if (!stores(database, thread)) ++faults;
        }
      });
    }
    for (int round = 0; round < 10; ++round) {
      CHECK(in_child([&] { return has(database, 0, 0) && stores(database, 100 + round); }) == 1);
    }
    done = true;
  }
  CHECK(faults == 0);
  for (int round = 0; round < 10; ++round) CHECK(has(database, 100 + round, 100 + round));
  SQLite::Database opened(database.path());
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

}  // namespace tuning_database_fork_test
