// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tests of tuning_processes_test.cpp, with numbers that take minutes. Skipped unless asked for
// with --no-skip.
#include "tests/tune/tuning_scenarios.hpp"

TEST_CASE("64 processes with 64 threads each tune a cold key once and agree" * doctest::skip()) {
  tune::testing::tune_a_cold_key(64, 64);
}

TEST_CASE("64 processes make a new database, 200 times" * doctest::skip()) {
  for (int round = 0; round < 200; ++round) tune::testing::create_a_database(64);
}

TEST_CASE("others take over from processes that were killed, 150 times" * doctest::skip()) {
  std::minstd_rand random(2);
  for (int round = 0; round < 150; ++round) tune::testing::kill_half(8, random);
}

// Longer than anybody waits for a commit of another.
TEST_CASE("64 processes with 4 threads each see one search, stopped for 12 s, 10 times" *
          doctest::skip()) {
  std::minstd_rand random(4);
  for (int round = 0; round < 10; ++round) {
    tune::testing::stop_the_search(64, 4, std::chrono::seconds(12), random);
  }
}
