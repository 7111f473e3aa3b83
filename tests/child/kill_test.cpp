// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kills a program that tunes in children (isolated_search.cpp), or its child, at random moments
// until it has come to its end; then looks at what was measured, stored and left behind.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/child/sample_tuner.hpp"
#include "tests/child/tuned_database.hpp"
#include "tests/tune/running_program.hpp"

namespace kill_test {

namespace fs = std::filesystem;

constexpr std::size_t configurations = 40;

/// The state of a process, "R" or "Z"; empty if there is none. After its name, which may hold
/// anything.
std::string state_of(::pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  return end == std::string::npos ? "" : text.substr(end + 2, 1);
}

bool is_alive(::pid_t id) {
  const std::string state = state_of(id);
  return !state.empty() && state != "Z" && state != "X";
}

/// A run of the program; killed at the end if it still runs.
struct running_program : sample::running_program {
  running_program(const std::string& database, const std::string& log,
                  const std::string& patience = "10000")
      : sample::running_program({LIBTUNE_ISOLATED_SEARCH, database, log, patience}) {}
};

void wait_until_gone(const std::vector<::pid_t>& processes) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto all_gone = [&] { return std::ranges::none_of(processes, is_alive); };
  while (!all_gone() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK_MESSAGE(all_gone(), "a child has outlived its parent");
}

/// Waits until so many configurations more have been run, and a little longer.
void wait_a_while(running_program& run, const std::string& log, std::minstd_rand& random) {
  // A program that was killed measures some of the best again before it gets on.
  const std::size_t again = isolated::measured_again;
  const std::size_t enough = isolated::read_log(log).size() + again + random() % 6;
  while (!run.has_ended() && isolated::read_log(log).size() < enough) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
}

/// Runs the program until it has come to its end. Counts the kills.
int kill_until_done(const std::string& database, const std::string& log, std::minstd_rand& random) {
  int kills = 0;
  while (true) {
    REQUIRE(kills < 300);
    running_program run(database, log);
    while (!run.has_ended()) {
      wait_a_while(run, log, random);
      const auto children = run.children();
      if (run.has_ended()) break;
      ++kills;
      // Two in a row within one trial would be held against it.
      if (random() % 2 == 0 && !children.empty()) {
        constexpr std::array signals{SIGKILL, SIGTERM, SIGINT, SIGHUP};
        ::kill(children.front(), signals[random() % signals.size()]);
        const std::size_t before = isolated::read_log(log).size();
        while (!run.has_ended() && isolated::read_log(log).size() < before + 2) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      } else {
        run.kill();
        wait_until_gone(children);
        break;
      }
    }
    if (run.succeeded()) return kills;
  }
}

void check_database(const std::string& path, const std::string& log) {
  isolated::check_database(path,
                           {.configurations = configurations, .sleep_us = 11'000, .log = log});
}

/// How many kills it took.
int kill_a_search(std::minstd_rand& random) {
  const tune::testing::temporary_directory folder;
  const std::string database = (folder / "tuning.db").string();
  const std::string log = (folder / "log").string();
  const int kills = kill_until_done(database, log, random);
  check_database(database, log);
  // What was under way when a process was killed is run again, and some of the best.
  const std::size_t again = 1 + 2 * isolated::measured_again;
  CHECK(isolated::read_log(log).size() <= configurations + again * static_cast<std::size_t>(kills));
  return kills;
}

TEST_CASE(
    "a search whose processes are killed at random comes to its end, and leaves none behind") {
  if (tune::testing::test_devices().empty()) return;
  std::minstd_rand random(1);
  for (int kills = 0; kills < 10;) kills += kill_a_search(random);
}

TEST_CASE("the same with two hundred kills" * doctest::skip()) {
  if (tune::testing::test_devices().empty()) return;
  std::minstd_rand random(2);
  int kills = 0;
  int searches = 0;
  for (; kills < 200; ++searches) kills += kill_a_search(random);
  MESSAGE(kills << " kills in " << searches << " searches");
}

TEST_CASE("a pause of a program and its child that outlasts the limit is nobody's fault") {
  if (tune::testing::test_devices().empty()) return;
  const tune::testing::temporary_directory folder;
  const std::string database = (folder / "tuning.db").string();
  const std::string log = (folder / "log").string();
  running_program run(database, log, "1000");
  while (!run.has_ended() && isolated::read_log(log).size() < 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto all = run.children();
  all.push_back(run.id());
  for (const ::pid_t process : all) ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  std::ranges::reverse(all);  // the one that watches goes on before the other
  for (const ::pid_t process : all) ::kill(process, SIGCONT);
  while (!run.has_ended()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(run.succeeded());
  check_database(database, log);
  CHECK(isolated::read_log(log).size() == configurations);
}

}  // namespace kill_test
