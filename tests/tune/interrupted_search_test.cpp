// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kills a program that tunes (interrupted_search.cpp) at random moments until it has come to its
// end, and looks at what it measured.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/testing/temporary_directory.hpp"
#include "tests/tune/application.hpp"

namespace interrupted_search_test {

namespace fs = std::filesystem;

constexpr std::size_t configurations = 48;

/// A run of the program; killed at the end if it still runs.
class [[nodiscard]] child_process {
 public:
  child_process(std::string database, std::string log) {
    std::string program = LIBTUNE_INTERRUPTED_SEARCH;
    char* const arguments[] = {program.data(), database.data(), log.data(), nullptr};
    pid_ = ::fork();
    if (pid_ != 0) return;
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execv(program.c_str(), arguments);
    ::_exit(127);
  }
  ~child_process() {
    if (!ended_) kill();
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  bool has_ended() {
    if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  /// Whether it had been faster.
  bool kill() {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    return WIFEXITED(status_);
  }
  bool succeeded() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// The log: for each run of the program the configurations that it measured, in order.
std::vector<std::vector<std::string>> read_runs(const std::string& path) {
  std::vector<std::vector<std::string>> runs;
  std::ifstream log(path);
  for (std::string line; std::getline(log, line);) {
    if (line == "started") {
      runs.emplace_back();
    } else {
      runs.back().push_back(line);
    }
  }
  return runs;
}

std::uintmax_t size_of(const std::string& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

/// The most that one run measured again though its trial had been made: all but the last of a run
/// had. The last run, which compares the best with each other, is not counted.
std::size_t most_repeated(const std::vector<std::vector<std::string>>& runs) {
  std::set<std::string> made;
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    const std::set<std::string> different(runs[i].begin(), runs[i].end());
    const auto repeated = std::ranges::count_if(
        different, [&](const std::string& name) { return made.contains(name); });
    most = std::max(most, static_cast<std::size_t>(repeated));
    if (!runs[i].empty()) made.insert(runs[i].begin(), runs[i].end() - 1);
  }
  return most;
}

/// Waits until a run has got somewhere, and a little longer. Whether it has ended.
bool wait_a_while(child_process& run, const std::string& log, std::minstd_rand& random) {
  // A line is four bytes; the first says that it has started, some of the next are measured again.
  const auto again = sample::measured_again;
  const auto enough = size_of(log) + 8 + 4 * (again + random() % 7);
  while (size_of(log) < enough) {
    if (run.has_ended()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
  return run.has_ended();
}

/// Kills runs until one has come to its end, and returns how many were killed.
int kill_until_done(const std::string& database, const std::string& log, std::minstd_rand& random) {
  for (int kills = 0;; ++kills) {
    REQUIRE(kills < 500);
    child_process run(database, log);
    if (wait_a_while(run, log, random) || run.kill()) {
      REQUIRE(run.succeeded());
      return kills;
    }
  }
}

void check_database(const std::string& path) {
  tune::tuning_database database(path);
  const auto searched = sample::scale_function("sample.interrupted");
  const auto key = sample::key_on(sample::make_device().device());
  const auto result = database.find(searched, key);
  REQUIRE(result);
  CHECK(tune::to_string(result->values) == "wgs=1, rows=1");
  const auto search = database.latest_search(searched, key);
  REQUIRE(search);
  std::set<std::string> tried;
  for (const auto& trial : search->trials) tried.insert(tune::to_string(trial.configuration));
  CHECK(tried.size() == configurations);
  CHECK(search->trials.size() == configurations);
}

/// How many kills it took.
int interrupt_a_search(std::minstd_rand& random) {
  const tune::testing::temporary_directory folder;
  const std::string database = (folder / "tuning.db").string();
  const std::string log = (folder / "measured").string();
  const int kills = kill_until_done(database, log, random);
  CHECK(most_repeated(read_runs(log)) <= sample::measured_again);
  check_database(database);
  return kills;
}

TEST_CASE("the count of what is repeated sees a repetition") {
  CHECK(most_repeated({{"a", "b"}, {"b", "c"}, {"c"}, {}, {"d"}}) == 0);
  CHECK(most_repeated({{"a", "b"}, {"b", "a"}, {"c"}}) == 1);
  CHECK(most_repeated({{"a", "b", "c"}, {"b", "a", "b"}, {"d", "a"}, {}}) == 2);
}

TEST_CASE("a search that is killed again and again measures little twice") {
  std::minstd_rand random(1);
  CHECK(interrupt_a_search(random) > 0);
}

TEST_CASE("a search that is killed a thousand times measures little twice" * doctest::skip()) {
  std::minstd_rand random(2);
  int kills = 0;
  int searches = 0;
  for (; kills < 1000; ++searches) kills += interrupt_a_search(random);
  MESSAGE(kills << " kills in " << searches << " searches");
}

}  // namespace interrupted_search_test
