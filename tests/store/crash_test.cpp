// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A process is killed while it stores results. Whatever it was told to be stored is there
// afterwards, and the file is sound.
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <random>
#include <spawn.h>
#include <sqlite3.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/captured_errors.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace crash_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace tune::testing;
using tune::tuning_database;
using rows = std::vector<std::int64_t>;

/// A writer that runs until it is killed.
class writer {
 public:
  explicit writer(std::vector<std::string> words) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    words.insert(words.begin(), {LIBTUNE_STORE_CHILD, "store"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failure =
        ::posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    reader_ = ends[0];
    REQUIRE(failure == 0);
  }
  ~writer() {
    kill();
    ::close(reader_);
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  /// Waits for the next row that it was told to be stored; false once it has ended.
  bool read_row() {
    std::int64_t row = 0;
    if (::read(reader_, &row, sizeof row) != sizeof row) return false;
    stored_.push_back(row);
    return true;
  }

  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

  /// All rows, once it has ended.
  const rows& stored() {
    while (read_row()) continue;
    return stored_;
  }

 private:
  ::pid_t process_ = 0;
  int reader_ = -1;
  rows stored_;
};

/// How many of the rows are not there, or wrong; one more if the file is not sound.
int faults_in(const std::string& path, const rows& stored) {
  int faults = 0;
  try {
    tuning_database database(path);
    for (const std::int64_t row : stored) {
      const auto found = database.find(sample_function(), sample_key(row));
      if (!found || found->values != sample_tuning(row)) ++faults;
    }
    for (const auto& trial : database.trials(sample_function(), sample_key(-1))) {
      if (trial.message.size() != 3000) ++faults;
    }
    if (!std::filesystem::exists(path)) return faults;  // killed before it made the file
    SQLite::Database opened(path);
    if (opened.execAndGet("PRAGMA integrity_check").getString() != "ok") ++faults;
  } catch (const std::exception&) {
    ++faults;
  }
  return faults;
}

/// Kills a writer at each of its changes to the files in turn, and counts the faults.
int faults_of_kills_at_each_change() {
  int faults = 0;
  for (int change = 1; change < 150; change += repetitions(3, 1)) {
    const temporary_folder folder;
    const std::string path = folder.file("tuning.db");
    writer killed({path, "0", std::to_string(change)});
    const rows stored = killed.stored();
    killed.kill();
    faults += faults_in(path, stored);
  }
  return faults;
}

TEST_CASE("a process that is killed at any moment loses nothing that it was told to be stored") {
  const int kills = repetitions(25, 1000);
  std::minstd_rand random(7);
  std::uniform_int_distribution<int> delay_us(2'000, 32'000);
  int faults = 0;
  std::int64_t row = 0;
  auto folder = std::make_unique<temporary_folder>();
  for (int kill = 0; kill < kills; ++kill) {
    if (kill % 50 == 49) folder = std::make_unique<temporary_folder>();
    const std::string path = folder->file("tuning.db");
    writer killed({path, std::to_string(row)});
    // At first it may also be killed while it starts and makes the tables.
    if (kill % 4 != 0) REQUIRE(killed.read_row());
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    killed.kill();
    const rows stored = killed.stored();
    if (!stored.empty()) row = stored.back() + 2;
    faults += faults_in(path, stored);
  }
  MESSAGE(kills << " kills, " << row << " rows, " << faults << " faults");
  CHECK(row > kills);
  CHECK(faults == 0);
}

TEST_CASE("a process that is killed at each of its writes loses nothing either") {
  CHECK(faults_of_kills_at_each_change() == 0);
}

// Writes that fail. Each test repeats a workload with the n-th change of a file failing, for
// n = 1, 2, ... until the workload ends before its turn comes.

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
int broken_promises(const std::string& path, const acknowledged& done) {
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
    CHECK(broken_promises(path, done) == 0);
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
  CHECK(broken_promises(path, {.rows = {0}}) == 0);
}

}  // namespace crash_test
