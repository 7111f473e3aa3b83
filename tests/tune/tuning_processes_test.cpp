// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Processes that tune at the same time. tuning_processes_long.cpp has the same with more of them.
#include <fstream>
#include <string>

#include "tests/tune/tuning_scenarios.hpp"

namespace tuning_processes_test {

using namespace std::chrono_literals;
using tune::testing::tuning_processes;

int lines_with(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) ++count;
  }
  return count;
}

TEST_CASE("processes that meet on a cold key tune it once and agree") {
  tune::testing::tune_a_cold_key(8, 4);
}

TEST_CASE("processes that meet on a new database make it without an error") {
  for (int round = 0; round < 3; ++round) tune::testing::create_a_database(8);
}

TEST_CASE("when processes that tune are killed, others take over") {
  std::minstd_rand random(1);
  for (int round = 0; round < 4; ++round) tune::testing::kill_half(6, random);
}

TEST_CASE("followers of a process that was stopped wait as long as they may, and say so") {
  tuning_processes group;
  group.tally->launch_us = 5'000;
  group.tally->threads = 3;
  group.start(1);
  tuning_processes::wait_for([&] { return group.tally->searches.load() == 1; });
  group.all[0].send(SIGSTOP);

  tuning_processes followers;
  followers.tally->database = group.tally->database;
  followers.tally->threads = 3;
  followers.tally->wait_ms = 100;
  followers.start(2);
  CHECK(followers.finish() == 0);
  CHECK(followers.tally->errors.load() == 0);
  CHECK(followers.tally->searches.load() == 0);
  CHECK(followers.tally->defaults.load() == 6);
  CHECK(lines_with(followers.errors(), "LIBTUNE_WAIT") == 2);  // one for each process

  group.all[0].send(SIGCONT);
  CHECK(group.finish() == 0);
  CHECK(group.tally->tuned.load() == 3);
  followers.tally->ready = 0;
  followers.start(1);
  CHECK(followers.finish() == 0);
  CHECK(followers.tally->tuned.load() == 3);
  CHECK(followers.tally->searches.load() == 0);
}

TEST_CASE("processes with one device measure one at a time") {
  tuning_processes group;
  group.tally->keys = 4;
  group.start(4);
  CHECK(group.finish() == 0);
  CHECK(group.tally->searches.load() == 4);
  CHECK(group.tally->overlaps.load() == 0);
}

TEST_CASE("a process that was stopped while it measured keeps nobody for ever") {
  tuning_processes group;
  group.tally->launch_us = 5'000;
  group.start(1);
  tuning_processes::wait_for([&] { return group.tally->measuring[0] == 1; });
  group.all[0].send(SIGSTOP);

  tuning_processes others;
  others.tally->database = group.tally->database;
  others.tally->keys = 2;
  others.tally->wait_ms = 50;
  int who_waited = 0;
  SUBCASE("others with the same device measure in the end, and say so") { who_waited = 1; }
  SUBCASE("others with another device do not wait at all") { others.tally->devices = 2; }
  others.start(2);
  CHECK(others.finish() == 0);
  CHECK(others.tally->errors.load() == 0);
  CHECK(others.tally->tuned.load() == 1);  // the second key
  CHECK(lines_with(others.errors(), "is measured although") == who_waited);
}

TEST_CASE("a search that is stopped and goes on stays the only one") {
  std::minstd_rand random(3);
  for (int round = 0; round < 5; ++round) {
    tune::testing::stop_the_search(6, 2, std::chrono::milliseconds(150), random);
  }
}

}  // namespace tuning_processes_test
