// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What many processes go through, for the short tests and the long ones.
#pragma once

#include <bit>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <random>
#include <thread>

#include "tests/tune/tuning_processes.hpp"

namespace tune::testing {

/// All meet on one key that nobody has tuned.
inline void tune_a_cold_key(int processes, int threads) {
  tuning_processes group;
  group.tally->threads = threads;
  group.start(processes);
  CHECK(group.finish() == 0);
  CHECK(group.tally->errors.load() == 0);
  CHECK(group.tally->searches.load() == 1);
  CHECK(group.tally->defaults.load() == 0);
  CHECK(group.tally->tuned.load() == processes * threads);
  CHECK(std::popcount(group.tally->answers.load()) == 1);
  CHECK(group.stored_rows() == 1);
}

/// All have a key of their own, and meet on a file that does not exist.
inline void create_a_database(int processes) {
  tuning_processes group;
  group.tally->keys = processes;
  group.tally->devices = static_cast<int>(process_tally::most_devices);
  group.tally->launch_us = 0;
  group.start(processes);
  CHECK(group.finish() == 0);
  CHECK(group.tally->errors.load() == 0);
  CHECK(group.tally->searches.load() == processes);
  CHECK(group.stored_rows() == processes);
  CHECK(group.is_intact());
}

/// Half of them are killed while one tunes and the others wait; the rest has to agree.
inline void kill_half(int processes, std::minstd_rand& random) {
  tuning_processes group;
  group.start(processes);
  std::uniform_int_distribution<int> microseconds(0, 15'000);
  for (std::size_t i = 0; i < group.all.size(); i += 2) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
    group.all[i].send(SIGKILL);
  }
  CHECK(group.finish() <= (processes + 1) / 2);
  CHECK(group.tally->errors.load() == 0);
  CHECK(group.tally->defaults.load() == 0);
  CHECK(group.tally->tuned.load() >= processes / 2);
  const int searches = group.tally->searches;
  group.tally->ready = 0;
  group.start(1);
  CHECK(group.finish() == 0);
  CHECK(group.tally->searches.load() == searches);  // what was found has been kept
  CHECK(std::popcount(group.tally->answers.load()) == 1);
  CHECK(group.is_intact());
}

/// The one that searches is stopped at some moment, until its end or a little later, and goes on.
inline void stop_the_search(int processes, int threads, std::chrono::milliseconds pause,
                            std::minstd_rand& random) {
  tuning_processes group;
  group.tally->threads = threads;
  group.tally->launch_us = 1000;
  group.start(processes);
  tuning_processes::wait_for([&] { return group.tally->searches.load() == 1; });
  // About as long as a search takes, with its commits.
  std::uniform_int_distribution<int> microseconds(0, 60'000);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
  const ::pid_t searching = group.tally->searching;
  ::kill(searching, SIGSTOP);
  std::this_thread::sleep_for(pause);
  ::kill(searching, SIGCONT);
  CHECK(group.finish() == 0);
  CHECK(group.tally->errors.load() == 0);
  CHECK(group.tally->searches.load() == 1);
  CHECK(group.tally->defaults.load() == 0);
  CHECK(group.tally->tuned.load() == processes * threads);
  CHECK(std::popcount(group.tally->answers.load()) == 1);
  CHECK(group.stored_rows() == 1);
}

}  // namespace tune::testing
