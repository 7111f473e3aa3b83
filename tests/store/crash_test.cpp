// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A process is killed while it stores results. Whatever it was told to be stored is there
// afterwards, and the file is sound.
#include <SQLiteCpp/SQLiteCpp.h>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <random>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/repetitions.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace crash_test {

using tune::tuning_database;
using tune::testing::repetitions;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::temporary_folder;
using rows = std::vector<std::int64_t>;

/// A writer that runs until it is killed.
class writer {
 public:
  explicit writer(std::vector<std::string> words) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    words.insert(words.begin(), LIBTUNE_CRASH_WRITER);
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

}  // namespace crash_test
