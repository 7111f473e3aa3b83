// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how much faster do several ranks tune the keys of a program than one?
//
// 64 keys of equal cost are tuned by one rank and by several, in turn. A key stands for a search on
// a device of its own: its autotune function sleeps for a given time, then tunes a space of one
// configuration that runs nothing. So the ranks may share one device and few cores. The program
// starts itself under mpirun: a rank is a process that calls pretune for a device, if possible a
// CPU, with a database of its own. The time of a rank is the time of the call, with the start of
// its child and the exchange of the databases; the longest time of a rank is used. Reported: the
// time of one rank divided by the time of several and by their number, for each round, and the
// median of the rounds.
//
//   ranks_bench [ranks [keys [milliseconds of a key [rounds]]]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/libtune.hpp"

namespace stand_in {

struct key {
  int number = 0;
  int sleep_ms = 0;
};
struct tuning {
  int n = 1;
};

}  // namespace stand_in

LIBTUNE_FIELDS(stand_in::key, number, sleep_ms)
LIBTUNE_FIELDS(stand_in::tuning, n)

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

const tune::autotuner<stand_in::key, stand_in::tuning> autotune{
    {.name = "ranks_bench.stand_in", .version = 0, .test = {}},
    [](tune::tuning_session& session, const stand_in::key& key) {
      std::this_thread::sleep_for(std::chrono::milliseconds(key.sleep_ms));
      const auto space = tune::space<stand_in::tuning>().add(&stand_in::tuning::n, {1});
      return session.tune(space, [](const stand_in::tuning&) {
        return tune::make_measure([](int) { return 1e-6; });
      });
    }};

tune::function_identity identity() {
  return {.name = "ranks_bench.stand_in",
          .version = 0,
          .key_fields = tune::describe_fields<stand_in::key>(),
          .value_fields = tune::describe_fields<stand_in::tuning>()};
}

// Runs one rank. Its time is written to the file with its number.
int tune_as_rank(char** arguments) {
  auto ranks = tune::communicator::meet_by_mpi();
  const fs::path folder = arguments[2];
  const int keys = std::atoi(arguments[3]);
  const int sleep_ms = std::atoi(arguments[4]);
  std::vector<tune::pretuning_item> items;
  items.reserve(static_cast<std::size_t>(std::max(keys, 0)));
  for (int i = 0; i < keys; ++i) {
    items.push_back({.function = identity(), .key = tune::to_values(stand_in::key{i, sleep_ms})});
  }
  tune::pretuning_options options;
  options.tuning.database = (folder / (std::to_string(ranks.rank()) + ".db")).string();
  options.tuning.system_databases = std::vector<std::string>{};
  if (ranks.size() > 1) options.ranks = &ranks;
  // Prefers a device that opens quickly, because several processes that open one GPU wait for each
  // other.
  std::vector<tune::device> devices = tune::all_devices();
  std::stable_partition(devices.begin(), devices.end(),
                        [](const auto& each) { return each.kind() == tune::device_kind::cpu; });
  devices.erase(devices.begin() + 1, devices.end());
  const tune::tuner_program program{.path = "/proc/self/exe", .arguments = {"ranks_bench"}};
  const auto begin = steady_clock::now();
  const auto results = tune::pretune(program, items, devices, options);
  const std::chrono::duration<double> time = steady_clock::now() - begin;
  for (const auto& result : results) {
    if (result.state == tune::pretuning_state::tuned) continue;
    std::fprintf(stderr, "ranks_bench: a key was not tuned: %s\n", result.reason.c_str());
    return 1;
  }
  std::ofstream(folder / std::to_string(ranks.rank())) << time.count();
  return 0;
}

double time_of(int ranks, int keys, int sleep_ms) {
  const fs::path folder = fs::temp_directory_path() / ("ranks_bench." + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const std::string line =
      "LIBTUNE_LOG=warning OMPI_ALLOW_RUN_AS_ROOT=1 "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n " +
      std::to_string(ranks) + " '" + program + "' --rank '" + folder.string() + "' " +
      std::to_string(keys) + ' ' + std::to_string(sleep_ms);
  if (std::system(line.c_str()) != 0) throw tune::error("mpirun has failed");
  double longest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    double seconds = 0;
    std::ifstream(folder / std::to_string(rank)) >> seconds;
    longest = std::max(longest, seconds);
  }
  fs::remove_all(folder);
  return longest;
}

int number_or(int count, char** arguments, int place, int other) {
  return count > place ? std::atoi(arguments[place]) : other;
}

}  // namespace

int main(int count, char** arguments) {
  tune::serve_if_worker(count, arguments);
  if (count == 5 && std::string(arguments[1]) == "--rank") return tune_as_rank(arguments);
  const int ranks = number_or(count, arguments, 1, 4);
  const int keys = number_or(count, arguments, 2, 64);
  const int sleep_ms = number_or(count, arguments, 3, 400);
  const int rounds = number_or(count, arguments, 4, 3);
  std::vector<double> efficiencies;
  for (int round = 0; round < rounds; ++round) {
    const double alone = time_of(1, keys, sleep_ms);
    const double together = time_of(ranks, keys, sleep_ms);
    efficiencies.push_back(alone / together / ranks);
    std::printf("%d keys of %d ms: 1 rank %.2f s, %d ranks %.2f s, efficiency %.3f\n", keys,
                sleep_ms, alone, ranks, together, efficiencies.back());
  }
  std::ranges::sort(efficiencies);
  std::printf("median %.3f\n", efficiencies[efficiencies.size() / 2]);
  return 0;
}
