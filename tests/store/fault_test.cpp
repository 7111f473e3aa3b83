// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Writes that fail. Each test repeats a workload with the n-th change of a file failing, for
// n = 1, 2, ... until the workload ends before its turn comes.
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <sqlite3.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace fault_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tune::tuning_database;
using tune::testing::captured_errors;
using tune::testing::fault_vfs;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;

constexpr int row_count = 3;
constexpr tune::database_waits short_waits{.read = 5ms, .write = 5ms};

/// What the database answered with success.
struct acknowledged {
  std::vector<std::int64_t> rows;
  bool trial = false;
  int refused = 0;
};

template <class Call>
bool succeeds(acknowledged& so_far, Call call) {
  try {
    call();
    return true;
  } catch (const tune::database_error&) {  // anything else is a failure of the test
    ++so_far.refused;
    return false;
  }
}

acknowledged work(const std::string& path) {
  acknowledged done;
  tuning_database database(path, short_waits);
  for (std::int64_t row = 0; row < row_count; ++row) {
    succeeds(done, [&] {
      const auto found = database.find(sample_function(), sample_key(row));
      if (found) throw std::logic_error("a row that nobody stored");
    });
    if (succeeds(done, [&] {
          database.store(sample_function(), sample_key(row), sample_tuning(row), 1);
        })) {
      done.rows.push_back(row);
    }
  }
  done.trial = succeeds(done, [&] {
    const auto search = database.begin_search(sample_function(), sample_key(0));
    database.add_trial(search, {.configuration = sample_tuning(7), .outcome = "measured"});
    database.finish_search(search, "found");
  });
  return done;
}

bool was_set_aside(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().string().find(".damaged-") != std::string::npos) return true;
  }
  return false;
}

/// How many promises the file breaks, once all is well again.
int faults_in(const std::string& path, const acknowledged& done) {
  int faults = 0;
  try {
    tuning_database database(path);
    for (std::int64_t row = 0; row < row_count; ++row) {
      const auto found = database.find(sample_function(), sample_key(row));
      if (found && found->values != sample_tuning(row)) ++faults;
      if (!found && std::ranges::count(done.rows, row) != 0) ++faults;
    }
    const auto trials = database.trials(sample_function(), sample_key(0));
    if (done.trial && trials.size() != 1) ++faults;
    database.store(sample_function(), sample_key(99), sample_tuning(99), 1);
    if (!database.find(sample_function(), sample_key(99))) ++faults;
    SQLite::Database opened(path);
    if (opened.execAndGet("PRAGMA integrity_check").getString() != "ok") ++faults;
  } catch (const std::exception& failure) {
    INFO(failure.what());
    ++faults;
  }
  if (was_set_aside(fs::path(path).parent_path())) ++faults;
  return faults;
}

/// Runs the workload with the n-th change failing, for all n, and some after it. Returns how often
/// it was run.
int check_all(int code, int failures) {
  for (int change = 1;; ++change) {
    CAPTURE(change);
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    acknowledged done;
    bool failed = false;
    {
      fault_vfs vfs;
      vfs.fail_at(change, code, failures);
      REQUIRE_NOTHROW(done = work(path));
      failed = vfs.changes() >= change;
    }
    CHECK(faults_in(path, done) == 0);
    if (!failed) return change;
    REQUIRE(change < 2000);
  }
}

TEST_CASE("a disk that is full for one write, or from some write on, takes nothing back") {
  captured_errors errors;
  for (const int failures : {1, 1'000'000}) CHECK(check_all(SQLITE_FULL, failures) > 1);
}

TEST_CASE("a write that fails, and all that fail from some write on, take nothing back") {
  captured_errors errors;
  for (const int failures : {1, 1'000'000}) CHECK(check_all(SQLITE_IOERR_WRITE, failures) > 1);
}

TEST_CASE("SQLite may run out of memory anywhere") {
  captured_errors errors;
  const temporary_folder folder;
  const std::string path = folder.file("tuning.db");
  tuning_database(path).store(sample_function(), sample_key(0), sample_tuning(0), 1);
  const sqlite3_int64 in_use = sqlite3_memory_used();
  int refused = 0;
  for (sqlite3_int64 more = 1; more < 400'000; more += 4'000) {
    sqlite3_hard_heap_limit64(in_use + more);
    acknowledged done;
    CHECK_NOTHROW(succeeds(done, [&] {
      tuning_database database(path, short_waits);
      const auto found = database.find(sample_function(), sample_key(0));
      CHECK((found && found->values == sample_tuning(0)));
      database.store(sample_function(), sample_key(1), sample_tuning(1), 1);
    }));
    sqlite3_hard_heap_limit64(0);
    refused += done.refused;
  }
  CHECK(refused > 0);
  CHECK(faults_in(path, {.rows = {0}}) == 0);
}

}  // namespace fault_test
