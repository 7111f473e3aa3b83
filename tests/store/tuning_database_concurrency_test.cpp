// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace tuning_database_concurrency_test {

using namespace std::chrono_literals;
using tune::match_mode;
using tune::tuning_database;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

constexpr int thread_count = 8;
constexpr std::int64_t rows_each = 12;
// Long enough that a slow disk is no failure.
constexpr tune::database_waits patient{.read = 60s, .write = 60s};

/// Each thread stores rows of its own, reads them back and keeps the trials of a search; all of
/// them meet on one more row. doctest's checks are for one thread, so faults are counted.
int faults_of_one_thread(tuning_database& database, int thread) {
  int faults = 0;
  const auto search = database.begin_search(sample_function(), sample_key(-1 - thread));
  for (std::int64_t i = 0; i < rows_each; ++i) {
    const std::int64_t own = thread * rows_each + i;
    database.store(sample_function(), sample_key(own), sample_tuning(own), 1);
    const auto found = database.find(sample_function(), sample_key(own), match_mode::nearest);
    if (!found || found->values != sample_tuning(own)) ++faults;

    database.store(sample_function(), sample_key(1'000'000), sample_tuning(own), 1);
    if (!database.find(sample_function(), sample_key(1'000'000))) ++faults;

    database.add_trial(search, {.configuration = sample_tuning(i), .outcome = "measured"});
  }
  database.finish_search(search, "found");
  return faults;
}

template <class DatabaseOf>
int faults_of_all_threads(DatabaseOf database_of) {
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        faults += faults_of_one_thread(database_of(thread), thread);
      } catch (...) {
        ++faults;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return faults;
}

void check_everything_is_there(const std::string& path) {
  tuning_database database(path);
  for (std::int64_t own = 0; own < thread_count * rows_each; ++own) {
    const auto found = database.find(sample_function(), sample_key(own));
    REQUIRE(found);
    CHECK(found->values == sample_tuning(own));
  }
  for (int thread = 0; thread < thread_count; ++thread) {
    const auto trials = database.trials(sample_function(), sample_key(-1 - thread));
    REQUIRE(trials.size() == rows_each);
    for (std::int64_t i = 0; i < rows_each; ++i) {
      CHECK(trials[static_cast<std::size_t>(i)].configuration == sample_tuning(i));
    }
  }
  SQLite::Database opened(path);
  CHECK(opened.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE("eight threads use one object") {
  const temporary_folder folder;
  tuning_database database(folder.file("tuning.db"), patient);
  CHECK(faults_of_all_threads([&](int) -> tuning_database& { return database; }) == 0);
  check_everything_is_there(database.path());
}

TEST_CASE("eight objects, each with a thread, meet on a new file") {
  const temporary_folder folder;
  std::vector<tuning_database> databases;
  for (int i = 0; i < thread_count; ++i) {
    databases.emplace_back(folder.file("deeper/tuning.db"), patient);
  }
  CHECK(faults_of_all_threads([&](int thread) -> tuning_database& {
          return databases[static_cast<std::size_t>(thread)];
        }) == 0);
  check_everything_is_there(databases[0].path());
}

TEST_CASE("one object sees what another has stored") {
  const temporary_folder folder;
  tuning_database first(folder.file("tuning.db"), patient);
  tuning_database second(folder.file("tuning.db"), patient);
  CHECK_FALSE(second.find(sample_function(), sample_key()));
  first.store(sample_function(), sample_key(), sample_tuning(1), 1);
  CHECK(second.find(sample_function(), sample_key())->values == sample_tuning(1));
  second.store(sample_function(), sample_key(), sample_tuning(2), 1);
  CHECK(first.find(sample_function(), sample_key())->values == sample_tuning(2));
  first.store(sample_function("later"), sample_key(), sample_tuning(3), 1);
  CHECK(second.find(sample_function("later"), sample_key())->values == sample_tuning(3));
}

}  // namespace tuning_database_concurrency_test
