// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how far from the best is the end of a search after its seeds, and is its estimate
// right?
//
// Method: seeds and losses are computed by the library (libtune/search/seeds), without a search.
//
// 1. Recordings, each of a kernel on a device, KERNEL_DEVICE.json.gz: each device in turn is new,
//    and the database has the others of the same kernel, of any maker.
// 2. --devices N: the same with imagined devices of strategies_bench, N for each of four kernels.
// 3. --keys N: N keys of a matrix product on an imagined device, drawn at random, are tuned one
//    after the other. A key whose stated loss is within the goal stops after the necessary seeds;
//    any other has a whole search. This is done for --fleets devices.
//
// "16 seeds" is the loss with all seeds, "best 16" that with the best 16 of the nearest search,
// which is the rule without a cover; "stated" are the expected loss and its bound; "stop" and
// "lost" are the number of seeds after which a search for the goal stops, and its loss.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/strategies/imagined_fleet.hpp"
#include "bench/strategies/synthetic_spaces.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/search/seeds/seed_choice.hpp"
#include "libtune/search/space/random_source.hpp"

namespace {

using bench::imagined_product;
using bench::product_sizes;
using tune::recorded_space;
using tune::similar_search;

constexpr double infinite = std::numeric_limits<double>::infinity();

struct settings {
  std::vector<std::string> files;
  double goal = 0.05;
  std::size_t devices = 0;
  std::size_t keys = 0;
  std::size_t fleets = 8;
  std::uint64_t seed = 1;
};

/// The losses of one search with its seeds.
struct outcome {
  double after_all = 0;             // the loss with all of them
  double best_of_one = 0;           // the loss with the best ones of the nearest search
  tune::seed_loss stated;           // the loss after all seeds
  std::optional<std::size_t> stop;  // the number of seeds that is good enough
  double at_stop = 0;
  double stated_at_stop = 0;
};

/// Sums over many searches.
struct tally {
  std::size_t searches = 0, bounded = 0, covered = 0, stopped = 0, kept = 0, seeds = 0;
  std::size_t within = 0, within_by_one = 0, within_or_said = 0;
  double lost = 0;

  void add(const outcome& one, double goal) {
    ++searches;
    if (one.after_all <= goal) ++within;
    if (one.best_of_one <= goal) ++within_by_one;
    if (one.after_all <= goal || !(one.stated.bound <= goal)) ++within_or_said;
    if (std::isfinite(one.stated.bound)) {
      ++bounded;
      if (one.after_all <= one.stated.bound) ++covered;
    }
    if (!one.stop) return;
    ++stopped;
    seeds += *one.stop;
    lost += one.at_stop;
    if (one.at_stop <= one.stated_at_stop) ++kept;
  }
  void print(const std::string& name, double goal) const {
    const auto part = [](std::size_t a, std::size_t b) {
      return b == 0
                 ? std::string("-")
                 : fmt::format("{:.1f} %", 100.0 * static_cast<double>(a) / static_cast<double>(b));
    };
    const double stops = std::max(1.0, static_cast<double>(stopped));
    fmt::print(
        "{}: {} searches; within {:g} % with 16 seeds {} (best 16 of the nearest {}), or said not "
        "to be {}; bound stated {}, covers {}; stopped {} after {:.1f} seeds, lost {:.2f} %, bound "
        "kept {}\n",
        name, searches, 100 * goal, part(within, searches), part(within_by_one, searches),
        part(within_or_said, searches), part(bounded, searches), part(covered, bounded),
        part(stopped, searches), static_cast<double>(seeds) / stops, 100 * lost / stops,
        part(kept, stopped));
  }
};

double loss_after(const similar_search& truth, const std::vector<std::size_t>& seeds,
                  std::size_t most) {
  double least = infinite;
  std::size_t tried = 0;
  for (const std::size_t seed : seeds) {
    const auto loss = truth.loss(seed);
    if (!loss) continue;  // it is outside of the space
    if (tried++ == most) break;
    least = std::min(least, *loss);
  }
  return least;
}

outcome try_seeds(const similar_search& truth, const std::vector<similar_search>& known,
                  const std::function<double(std::size_t, std::size_t)>& between, double goal) {
  outcome found;
  const auto seeds = tune::rank_seeds(known, 2 * tune::most_seeds);
  found.after_all = loss_after(truth, seeds, tune::most_seeds);
  const auto nearest = std::ranges::min_element(known, {}, &similar_search::distance);
  found.best_of_one =
      loss_after(truth, tune::rank_seeds({&*nearest, 1}, 2 * tune::most_seeds), tune::most_seeds);
  std::size_t judges = 0;
  const auto losses = tune::losses_of_seeds(known, between, tune::most_seeds, judges);
  found.stated = losses.back();
  for (std::size_t k = 0; k < losses.size() && !found.stop; ++k) {
    if (!(losses[k].bound <= goal)) continue;
    found.stop = k + 1;
    found.at_stop = loss_after(truth, seeds, k + 1);
    found.stated_at_stop = goal;  // determines the number of seeds
  }
  return found;
}

std::string percent(double loss) {
  return std::isfinite(loss) ? fmt::format("{:.1f} %", 100 * loss) : std::string("unknown");
}

void print_row(const std::string& name, const outcome& one) {
  fmt::print("{:32} {:>9} {:>9} {:>9} {:>9} {:>5} {:>9}\n", name, percent(one.after_all),
             percent(one.best_of_one), percent(one.stated.expected), percent(one.stated.bound),
             one.stop ? std::to_string(*one.stop) : "-", one.stop ? percent(one.at_stop) : "-");
}

// ---- devices

/// Numbers configurations: equal ones have the same number on all devices.
class numbering {
 public:
  similar_search read(const recorded_space& space, double distance) {
    similar_search search{.distance = distance, .is_whole = true, .has_all = true};
    for (std::size_t i = 0; i < space.size(); ++i) {
      const auto [place, is_new] =
          numbers_.try_emplace(tune::canonical_text(space.space().values(i)), numbers_.size());
      search.times[place->second] = space[i].score_ms.value_or(infinite);
    }
    return search;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// Each device in turn is new; the distances between devices of one kernel are equal.
void hold_out(const std::string& kernel, const std::vector<std::string>& names,
              const std::vector<similar_search>& devices, double goal, bool rows, tally& sums) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::vector<similar_search> known = devices;
    known.erase(known.begin() + static_cast<std::ptrdiff_t>(i));
    if (known.empty()) {
      if (rows) fmt::print("{:32} no other device has it\n", kernel + " " + names[i]);
      continue;
    }
    const outcome one = try_seeds(
        devices[i], known, [](std::size_t, std::size_t) { return 1.0; }, goal);
    if (rows) print_row(kernel + " " + names[i], one);
    sums.add(one, goal);
  }
}

void try_recordings(const settings& with) {
  std::map<std::string, std::vector<recorded_space>> by_kernel;
  for (const std::string& file : with.files) {
    recorded_space space = tune::read_recording(std::filesystem::path(file));
    const std::string kernel = space.name().substr(0, space.name().find('_'));
    by_kernel[kernel].push_back(std::move(space));
  }
  fmt::print("{:32} {:>9} {:>9} {:>19} {:>5} {:>9}\n", "new device", "16 seeds", "best 16",
             "stated, bound", "stop", "lost");
  tally sums;
  for (const auto& [kernel, spaces] : by_kernel) {
    numbering numbers;
    std::vector<similar_search> devices;
    std::vector<std::string> names;
    for (const recorded_space& space : spaces) {
      devices.push_back(numbers.read(space, 1));
      names.push_back(space.name().substr(std::min(kernel.size() + 1, space.name().size())));
    }
    hold_out(kernel, names, devices, with.goal, true, sums);
  }
  sums.print("recordings", with.goal);
}

void try_imagined_devices(const settings& with) {
  std::map<std::string, std::vector<recorded_space>> by_kernel;
  for (std::size_t i = 0; i < with.devices; ++i) {
    for (recorded_space& space : bench::synthetic_spaces(with.seed + i)) {
      const std::string kernel = space.name().substr(0, space.name().find('_'));
      by_kernel[kernel].push_back(std::move(space));
    }
  }
  for (const auto& [kernel, spaces] : by_kernel) {
    numbering numbers;
    std::vector<similar_search> devices;
    std::vector<std::string> names;
    for (const recorded_space& space : spaces) {
      devices.push_back(numbers.read(space, 1));
      names.push_back(space.name());
    }
    tally sums;
    hold_out(kernel, names, devices, with.goal, false, sums);
    sums.print(fmt::format("imagined {} on {} devices", kernel, devices.size()), with.goal);
  }
}

// ---- keys

double distance(const product_sizes& a, const product_sizes& b) {
  return std::abs(std::log2(a.rows / b.rows)) + std::abs(std::log2(a.columns / b.columns)) +
         std::abs(std::log2(a.length / b.length));
}

void try_fleet(const settings& with, std::uint64_t seed, tally& sums, std::size_t& whole) {
  constexpr std::size_t most_neighbours = 24;
  constexpr std::size_t known_of_each = 256;
  const imagined_product model(seed);
  tune::random_source random(seed + 1000);
  const auto size = [&] { return std::floor(std::exp2(6 + 7 * random.unit()) / 4) * 4; };
  std::vector<product_sizes> keys;
  std::vector<similar_search> searches;
  for (std::size_t i = 0; i < with.keys; ++i) {
    const product_sizes key{size(), size(), size()};
    similar_search truth{.is_whole = true, .has_all = true};
    for (std::size_t c = 0; c < model.configurations(); ++c) {
      truth.times[c] = model.time(c, key);
    }
    std::vector<std::size_t> near;
    for (std::size_t k = 0; k < keys.size(); ++k) near.push_back(k);
    std::ranges::stable_sort(near, {}, [&](std::size_t k) { return distance(keys[k], key); });
    near.resize(std::min(near.size(), most_neighbours));
    std::vector<similar_search> known;
    for (const std::size_t k : near) {
      known.push_back(searches[k]);
      known.back().distance = distance(keys[k], key);
    }
    const auto between = [&](std::size_t a, std::size_t b) {
      return distance(keys[near[a]], keys[near[b]]);
    };
    similar_search made = truth;
    bool stopped = false;
    if (!known.empty()) {
      const outcome one = try_seeds(truth, known, between, with.goal);
      sums.add(one, with.goal);
      if (one.stop) {
        stopped = true;
        made.is_whole = made.has_all = false;
        made.times.clear();
        for (const std::size_t s : tune::rank_seeds(known, *one.stop)) {
          made.times[s] = truth.times.at(s);
        }
      }
    }
    if (!stopped) ++whole;
    // A database provides a few hundred trials of a search, the best.
    if (made.times.size() > known_of_each) {
      std::vector<std::pair<double, std::size_t>> sorted;
      for (const auto& [c, time] : made.times) sorted.emplace_back(time, c);
      std::ranges::sort(sorted);
      for (std::size_t k = known_of_each; k < sorted.size(); ++k) {
        made.times.erase(sorted[k].second);
      }
      made.has_all = false;
    }
    keys.push_back(key);
    searches.push_back(std::move(made));
  }
}

void try_fleets(const settings& with) {
  tally sums;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < with.fleets; ++i) try_fleet(with, with.seed + i, sums, whole);
  sums.print(fmt::format("{} fleets of {} keys", with.fleets, with.keys), with.goal);
  fmt::print("  {:.1f} whole searches for each fleet\n",
             static_cast<double>(whole) / static_cast<double>(with.fleets));
}

void run(const settings& with) {
  if (!with.files.empty()) try_recordings(with);
  if (with.devices > 0) try_imagined_devices(with);
  if (with.keys > 0) try_fleets(with);
}

}  // namespace

int main(int argc, char** argv) {
  settings with;
  double percent_goal = 5;
  CLI::App app("Judges the seeds of searches, and what is said of them");
  app.add_option("files", with.files, "recordings, KERNEL_DEVICE.json.gz");
  app.add_option("--goal", percent_goal, "good enough, in percent");
  app.add_option("--devices", with.devices, "imagined devices for each kernel");
  app.add_option("--keys", with.keys, "keys of each imagined fleet");
  app.add_option("--fleets", with.fleets, "imagined fleets");
  app.add_option("--seed", with.seed, "of the first imagined device");
  CLI11_PARSE(app, argc, argv);
  with.goal = percent_goal / 100;
  try {
    run(with);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 1;
  }
  return 0;
}
