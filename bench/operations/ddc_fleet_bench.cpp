// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how long does a fleet of keys take: the 2,625 down-converters of 7 subsamplings (2 to
// 128), 25 ratios of taps to subsampling (8 to 32) and 15 widths of a sample (2 to 16 bits)?
//
// A random sample of the keys is tuned ahead in a new database, as by tunedb pretune, and the time
// of a key is the whole time over their number. Some of the keys are then searched completely in
// another database; "lost" is the time of the fleet's tuning in this search over the best time that
// it found. If searches have stopped as good enough, "covered" counts those that lost no more than
// stated.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "operations/telescope/ddc/ddc.hpp"

namespace {

using tune::operations::ddc_key;
using tune::operations::ddc_template;
using tune::operations::ddc_tuning;

constexpr std::size_t whole_fleet = 2625;

struct settings {
  std::size_t keys = 200;
  std::size_t checked = 30;
  std::size_t device = 0;
  unsigned seed = 1;
  std::string strategy;  // empty: the library chooses
  std::string good_enough;
  double seconds = 0;
};

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

tune::function_identity function() {
  return {"operations.ddc_template.autotune", 0, tune::describe_fields<ddc_key>(),
          tune::describe_fields<ddc_tuning>()};
}

std::vector<ddc_key> sample_of_fleet(const settings& with) {
  std::vector<ddc_key> all;
  for (std::size_t subsampling = 2; subsampling <= 128; subsampling *= 2) {
    for (std::size_t ratio = 8; ratio <= 32; ++ratio) {
      for (std::size_t bits = 2; bits <= 16; ++bits) {
        all.push_back({.taps = ratio * subsampling, .subsampling = subsampling, .bits = bits});
      }
    }
  }
  std::shuffle(all.begin(), all.end(), std::mt19937(with.seed));
  all.resize(std::min(all.size(), with.keys));
  return all;
}

std::vector<tune::pretuning_result> pretune(const settings& with, const std::string& database,
                                            const std::vector<ddc_key>& keys,
                                            const std::string& strategy, double seconds) {
  std::vector<tune::pretuning_item> items;
  for (const ddc_key& key : keys) items.push_back({function(), tune::to_values(key)});
  const std::vector<tune::device> devices{tune::candidate_devices().at(with.device)};
  tune::pretuning_options options;
  options.tuning.database = database;
  options.tuning.system_databases = std::vector<std::string>{};
  options.tuning.strategy = strategy;
  const auto begin = clock::now();
  options.stop = [=] { return seconds > 0 && seconds_since(begin) > seconds; };
  return tune::pretune({.path = "/proc/self/exe", .arguments = {"ddc_fleet_bench"}}, items, devices,
                       options);
}

std::size_t count(const std::vector<tune::pretuning_result>& results, tune::pretuning_state state) {
  return static_cast<std::size_t>(
      std::ranges::count(results, state, &tune::pretuning_result::state));
}

std::vector<ddc_key> tune_fleet(const settings& with, const std::string& database) {
  const std::vector<ddc_key> keys = sample_of_fleet(with);
  if (!with.good_enough.empty()) {
    ::setenv("LIBTUNE_GOOD_ENOUGH", with.good_enough.c_str(), 1);
  }
  const auto begin = clock::now();
  const auto results = pretune(with, database, keys, with.strategy, with.seconds);
  const double elapsed = seconds_since(begin);
  ::unsetenv("LIBTUNE_GOOD_ENOUGH");
  std::vector<ddc_key> tuned;
  std::size_t trials = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    trials += results[i].trials;
    if (results[i].state == tune::pretuning_state::tuned) tuned.push_back(keys[i]);
    if (results[i].state == tune::pretuning_state::failed) fmt::print("{}\n", results[i].reason);
  }
  const bool has_tensor_units =
      tune::operations::has_ddc_tensor_units(tune::candidate_devices().at(with.device));
  std::size_t configurations = 0;
  for (const ddc_key& key : tuned) {
    configurations += tune::operations::tuning_space(key, has_tensor_units).size();
  }
  const auto number = static_cast<double>(std::max<std::size_t>(tuned.size(), 1));
  fmt::print(
      "{} keys in {:.1f} s ({} failed), {:.2f} keys/s, {:.3f} s a key, {:.1f} of {:.1f} trials a "
      "key; {} keys would take {:.1f} min\n",
      tuned.size(), elapsed, count(results, tune::pretuning_state::failed), number / elapsed,
      elapsed / number, static_cast<double>(trials) / number,
      static_cast<double>(configurations) / number, whole_fleet,
      elapsed / number * whole_fleet / 60);
  std::fflush(stdout);
  return tuned;
}

/// The times of a whole search, by configuration.
std::map<std::string, double> times_of(tune::tuning_database& database,
                                       const tune::record_key& key) {
  std::map<std::string, double> times;
  for (const tune::stored_trial& trial : database.trials(function(), key)) {
    if (trial.score_ns) {
      times[tune::canonical_text(trial.configuration)] = *trial.score_ns / trial.level;
    }
  }
  return times;
}

void check(const settings& with, const std::string& fleet, const std::string& whole,
           std::vector<ddc_key> keys) {
  // The last ones have had the most neighbours; the checked ones are spread over all.
  std::shuffle(keys.begin(), keys.end(), std::mt19937(with.seed + 1));
  keys.resize(std::min(keys.size(), with.checked));
  if (keys.empty()) return;
  const auto begin = clock::now();
  pretune(with, whole, keys, "exhaustive", 0);
  const double elapsed = seconds_since(begin);
  tune::tuning_database ours(fleet);
  tune::tuning_database theirs(whole);
  const tune::device_identity device = tune::candidate_devices().at(with.device).identity();
  std::vector<double> lost;
  fmt::print("{:>6} {:>12} {:>5} {:>8}  tuning\n", "taps", "subsampling", "bits", "lost");
  for (const ddc_key& key : keys) {
    const tune::record_key record{tune::to_values(key), device};
    const auto found = ours.find(function(), record);
    const auto times = times_of(theirs, record);
    if (!found || times.empty()) continue;
    const auto least = std::ranges::min_element(times, {}, [](const auto& t) { return t.second; });
    const auto own = times.find(tune::canonical_text(found->values));
    if (own == times.end()) continue;
    lost.push_back(own->second / least->second - 1);
    fmt::print("{:>6} {:>12} {:>5} {:>7.2f}%  {}\n", key.taps, key.subsampling, key.bits,
               100 * lost.back(), to_string(found->values));
  }
  if (lost.empty()) return;
  std::ranges::sort(lost);
  double sum = 0;
  for (const double one : lost) sum += one;
  fmt::print(
      "{} keys searched as a whole in {:.1f} s: {:.2f} % lost on average, {:.2f} % at most; {} of "
      "{} within 3 %\n",
      keys.size(), elapsed, 100 * sum / static_cast<double>(lost.size()), 100 * lost.back(),
      std::ranges::count_if(lost, [](double one) { return one <= 0.03; }), lost.size());
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  settings with;
  CLI::App app("Tunes a sample of a fleet of down-converters");
  app.add_option("--keys", with.keys, "how many of the 2,625 keys, drawn at random");
  app.add_option("--check", with.checked, "of them, how many are searched as a whole afterwards");
  app.add_option("--device", with.device, "as LIBTUNE_DEVICE counts");
  app.add_option("--seed", with.seed, "of the sample");
  app.add_option("--strategy", with.strategy,
                 "of the fleet; without it as ever: all of a space that is as small as these");
  app.add_option("--good-enough", with.good_enough, "LIBTUNE_GOOD_ENOUGH of the fleet, such as 3%");
  app.add_option("--seconds", with.seconds, "for the fleet at most; 0: no limit");
  CLI11_PARSE(app, argc, argv);
  try {
    const tune::testing::temporary_directory folder;
    const std::string fleet = (folder / "fleet.db").string();
    const auto tuned = tune_fleet(with, fleet);
    check(with, fleet, (folder / "whole.db").string(), tuned);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 1;
  }
  return 0;
}
