// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Processes are killed while they bring a database of version 1 to this version. Afterwards it is
// of the one version or the other, sound, and nothing is missing.
#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/tuning_database.hpp"
#include "tests/store/child_process.hpp"
#include "tests/store/fault_vfs.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/store/version_1.hpp"

namespace migration_crash_test {

using tune::tuning_database;
using tune::testing::create_version_1;
using tune::testing::fault_vfs;
using tune::testing::in_child;
using tune::testing::repetitions;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::temporary_folder;

constexpr std::int64_t row_count = 400;  // enough pages that the cache spills none and syncs some

std::string create_large_version_1(const temporary_folder& folder) {
  const std::string path = create_version_1(folder);
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec(
          "BEGIN;"
          "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 99 + " +
          std::to_string(row_count) +
          ") INSERT INTO \"multiply_template.autotune__0\" SELECT i, 'float32', 'GPU One', "
          "'Some Platform', '535.104', i, 1000.0 + i, '2024-01-31T12:00:00Z' FROM n;"
          "INSERT INTO libtune_search SELECT arg_rows, 'multiply_template.autotune__0', 'rows', "
          "'4:rows=i' || arg_rows || ';4:type=s7:float32;', 'GPU One', 'Some Platform', "
          "'535.104', '2024-01-31T11:59:00Z', '2024-01-31T12:00:00Z', 'found' "
          "FROM \"multiply_template.autotune__0\" WHERE arg_rows >= 100;"
          "COMMIT");
  return path;
}

int look_up(const std::string& path) {
  return tuning_database(path).find_patiently(sample_function(), sample_key()) ? 0 : 1;
}

/// How many promises the file breaks, before and after somebody uses it again.
int faults_in(const std::string& path, int& finished) {
  int faults = 0;
  try {
    SQLite::Database opened(path, SQLite::OPEN_READWRITE);  // writable, to finish what was begun
    const int version = opened.execAndGet("PRAGMA user_version").getInt();
    const bool has_checksums = opened
                                   .execAndGet(
                                       "SELECT count(*) FROM pragma_table_info('libtune_search') "
                                       "WHERE name = 'checksum'")
                                   .getInt() != 0;
    if (version != 1 && version != 3) ++faults;
    if (has_checksums != (version == 3)) ++faults;
    if (version == 3) ++finished;
    if (opened.execAndGet("PRAGMA integrity_check").getString() != "ok") ++faults;
    if (opened.execAndGet("SELECT count(*) FROM libtune_search").getInt64() != row_count + 1) {
      ++faults;
    }
  } catch (const SQLite::Exception&) {
    return faults + 1;
  }
  tuning_database database(path);
  for (std::int64_t row = 100; row < 100 + row_count; ++row) {
    const auto found = database.find_patiently(sample_function(), sample_key(row));
    if (!found || found->values != tune::testing::sample_tuning(row)) ++faults;
  }
  const auto trials = database.trials(sample_function(), sample_key());
  if (trials.size() != 1) ++faults;
  return faults;
}

/// Several processes that use a database at once.
class migrating_processes {
 public:
  explicit migrating_processes(const std::string& path) {
    for (int i = 0; i < 3; ++i) {
      const ::pid_t id = tune::testing::fork_for_use();
      if (id == 0) {
        ::alarm(60);
        ::_exit(look_up(path));
      }
      REQUIRE(id > 0);
      all_.push_back(id);
    }
  }
  void kill() const {
    for (const ::pid_t id : all_) ::kill(id, SIGKILL);
  }
  void wait() const {
    for (const ::pid_t id : all_) ::waitpid(id, nullptr, 0);
  }

 private:
  std::vector<::pid_t> all_;
};

/// How long they take if nobody kills them, here and now.
std::chrono::microseconds time_of_a_migration() {
  const temporary_folder folder;
  const std::string path = create_large_version_1(folder);
  const auto start = std::chrono::steady_clock::now();
  migrating_processes(path).wait();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

TEST_CASE("processes that are killed while they migrate a database lose nothing") {
  const int kills = repetitions(8, 500);
  std::minstd_rand random(11);
  std::uniform_int_distribution<std::int64_t> life_us(0, time_of_a_migration().count());
  int faults = 0;
  int finished = 0;
  int halfway = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const temporary_folder folder;
    const std::string path = create_large_version_1(folder);
    const migrating_processes killed(path);
    std::this_thread::sleep_for(std::chrono::microseconds(life_us(random)));
    killed.kill();
    killed.wait();
    if (std::filesystem::exists(path + "-journal")) ++halfway;
    faults += faults_in(path, finished);
  }
  MESSAGE(kills << " kills, " << halfway << " halfway, " << finished << " after the migration, "
                << faults << " faults");
  CHECK(faults == 0);
}

TEST_CASE(
    "a process that is killed at each change of a migration leaves the old tables or the new") {
  int faults = 0;
  int finished = 0;
  int kills = 0;
  for (int change = 1;; change += repetitions(5, 1)) {
    const temporary_folder folder;
    const std::string path = create_large_version_1(folder);
    const int ended = in_child([&] {
      fault_vfs vfs;
      vfs.kill_at(change);
      return look_up(path);
    });
    faults += faults_in(path, finished);
    if (ended == 0) break;
    REQUIRE(ended == -1);
    ++kills;
  }
  MESSAGE(kills << " kills, " << faults << " faults");
  CHECK(kills > 3);
  CHECK(finished >= 1);
  CHECK(faults == 0);
}

}  // namespace migration_crash_test
