// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "libtune/store/files/named_lock.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/tune/process_tally.hpp"

namespace tune::testing {

/// A tuning_process, killed at the end of its life if it still runs.
class [[nodiscard]] tuning_process {
 public:
  /// @param errors  the file that gets what it writes to standard error
  tuning_process(const std::string& tally, int number, const std::string& errors) {
    ::posix_spawn_file_actions_t files{};
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    std::string program = LIBTUNE_TUNING_PROCESS;
    std::string first = tally;
    std::string second = std::to_string(number);
    char* arguments[] = {program.data(), first.data(), second.data(), nullptr};
    const int failure = ::posix_spawn(&id_, program.c_str(), &files, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (failure != 0) throw std::runtime_error(program + ": " + std::strerror(failure));
  }
  ~tuning_process() {
    if (id_ == 0) return;
    send(SIGKILL);
    wait();
  }
  tuning_process(tuning_process&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  tuning_process& operator=(tuning_process&&) = delete;

  void send(int signal) const { ::kill(id_, signal); }

  /// Waits for its end. @returns whether it ended by itself, and well
  bool wait() {
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  ::pid_t id_ = 0;
};

inline void remove_lock_file(const std::string& hardware) {
  const std::string name = device_lock::file_name(hardware);
  for (const std::string& folder : device_lock::shared_folders()) {
    ::unlink((folder + '/' + name).c_str());
  }
}

/// Processes that tune with one database, which does not exist before they start.
struct tuning_processes {
  temporary_folder folder;
  shared_tally tally{folder.file("tally")};
  std::vector<tuning_process> all;

  tuning_processes() {
    const std::string database = path();
    std::copy_n(database.c_str(), database.size() + 1, tally->database.begin());
  }

  // The library never removes a lock file; a test has no more use for its own.
  ~tuning_processes() {
    all.clear();
    for (std::size_t i = 0; i < process_tally::most_devices; ++i) {
      remove_lock_file("name " + device_name(*tally, i));
    }
  }
  tuning_processes(const tuning_processes&) = delete;
  tuning_processes& operator=(const tuning_processes&) = delete;

  std::string path() const { return folder.file("deeper/tuning.db"); }
  std::string errors() const { return folder.file("errors"); }

  void start(int count) {
    for (int i = 0; i < count; ++i) {
      all.emplace_back(folder.file("tally"), static_cast<int>(all.size()), errors());
    }
    wait_for([&] { return tally->ready >= static_cast<int>(all.size()); });
    tally->go = true;
  }

  /// Waits until something is true.
  template <class Condition>
  static void wait_for(Condition condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

  /// Waits for the end of all. @returns how many did not end well
  int finish() {
    int bad = 0;
    for (tuning_process& one : all) bad += one.wait() ? 0 : 1;
    all.clear();
    return bad;
  }

  /// How many rows the table of results has, as a person would count them.
  int stored_rows() const {
    return SQLite::Database(path()).execAndGet("SELECT count(*) FROM \"sample.scale__0\"");
  }
  bool is_intact() const {
    return SQLite::Database(path()).execAndGet("PRAGMA integrity_check").getString() == "ok";
  }
};

}  // namespace tune::testing
