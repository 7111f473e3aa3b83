// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how good are the strategies, and what is their own cost?
//
// Method: every strategy searches every space many times, with another seed each time, on recorded
// measurements. The cost of an evaluation is the recorded cost (compilation, verification,
// benchmark and framework) plus the strategy's time to propose it and to learn the answer, in CPU
// time of its thread, so that other load does not count. A score is the mean over 32 equidistant
// times of (expected of random search - best so far) / (expected of random search - optimum), until
// random search is expected at 95 % of the way from the median to the optimum: 0 is random search,
// 1 is the optimum at once. It prints, for each space, the mean over the seeds, half the width of
// its 95 % confidence interval, the part of the searches that ended within 1 % of the optimum
// ("optimal"), their average distance above it at the end ("above"), the part that was within 20 %
// of it after a tenth of that time ("early"), and the microseconds of the strategy for a proposal.
//
// --save writes the score of each seed, and --against compares with the scores of another build, or
// of another strategy (--as), seed by seed: the mean difference and its standard error for each
// space and over all, with equal weights of the spaces.
//
// Spaces are files (cache files of Kernel Tuner, T4, exports of libtune; gzip or not) and, with
// --synthetic, models of kernels on imagined devices, which serve the development of strategies.
// --traces adds searches of other tuners, in the form of kernel_tuner_traces.py, scored in the same
// way.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <time.h>  // NOLINT(modernize-deprecated-headers): of POSIX
#include <vector>

#include "bench/strategies/synthetic_spaces.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/scoring.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace {

using tune::random_baseline;
using tune::recorded_space;
using tune::scoring;
using tune::simulated_step;

struct settings {
  std::vector<std::string> files;
  std::vector<std::string> strategies;
  std::vector<std::string> traces;
  std::string save;
  std::string against;
  std::string as;
  std::string only;
  std::size_t seeds = 100;
  std::size_t first_seed = 0;
  unsigned threads = std::thread::hardware_concurrency();
  std::vector<std::uint64_t> synthetic;
  std::size_t ahead = 1;
  bool by_evaluations = false;
  bool valid_only = false;
  bool curves = false;
  bool whole = false;
  bool early_end = false;
};

/// The results of many searches of one space by one strategy.
struct summary {
  std::map<std::size_t, double> scores;                                            // by seed
  std::vector<double> curve = std::vector<double>(scoring::default_moments, 0.0);  // summed
  std::size_t optimal = 0;
  std::size_t early = 0;
  double above = 0;  // relative excess over the optimum at the end, summed
  double own_us = 0;
  std::size_t proposals = 0;

  void add(std::size_t seed, const scoring& by, const std::vector<simulated_step>& steps, double us,
           bool whole = false) {
    scores[seed] = by.score(steps);
    const std::vector<double> now = by.curve(steps);
    for (std::size_t i = 0; i < now.size(); ++i) curve[i] += now[i];
    const double end = by.ratio_at(std::max(by.budget_ms(), whole ? 1e300 : 0), steps);
    if (end <= 1.01) ++optimal;
    if (by.ratio_at(by.budget_ms() / 10, steps) <= 1.2) ++early;
    above += end - 1;
    own_us += us;
    proposals += steps.size();
  }
  double mean() const {
    double sum = 0;
    for (const auto& [seed, score] : scores) sum += score;
    return scores.empty() ? std::nan("") : sum / static_cast<double>(scores.size());
  }
  double half_interval() const {
    double squares = 0;
    for (const auto& [seed, score] : scores) squares += (score - mean()) * (score - mean());
    const auto count = static_cast<double>(scores.size());
    return count < 2 ? 0 : 1.96 * std::sqrt(squares / (count - 1) / count);
  }
};

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

scoring make_scoring(const recorded_space& space, const settings& with) {
  const auto kind =
      with.valid_only ? random_baseline::failures::left_out : random_baseline::failures::drawn;
  const std::optional<double> cost = with.by_evaluations ? std::optional(1.0) : std::nullopt;
  return scoring(random_baseline(space, kind), cost);
}

/// Results by strategy, then by space.
using table = std::map<std::string, std::map<std::string, summary>>;

void search(const recorded_space& space, const scoring& by, const std::string& name,
            std::uint64_t seed, const settings& with, const std::function<void()>& lock,
            summary& into) {
  double own_ms = 0;
  double last = 0;
  const auto clock = [&] {
    const double now = thread_cpu_ms();
    // The simulation calls it in pairs: before and after the work of the strategy.
    own_ms += last == 0 ? 0 : now - last;
    last = last == 0 ? now : 0;
    return now;
  };
  const double begin = thread_cpu_ms();
  const auto strategy =
      tune::make_strategy(name, space.space(), {.seed = seed, .early_end = with.early_end});
  own_ms += thread_cpu_ms() - begin;
  tune::simulation_options options{.ahead = with.ahead};
  if (with.whole) {
    options.max_count = tune::choose_search(space.size(), tune::search_limit::none).most;
  } else {
    options.max_ms = by.budget_ms();
  }
  if (with.by_evaluations) options.cost_ms = 1;
  options.clock_ms = clock;
  std::vector<simulated_step> steps = tune::simulate(*strategy, space, options);
  if (with.by_evaluations) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i].finished_ms = static_cast<double>(i + 1);
  }
  lock();
  into.add(seed, by, steps, own_ms * 1e3, with.whole);
}

/// All searches of all spaces, spread over the processors.
table search_all(const std::vector<recorded_space>& spaces, const std::vector<scoring>& scorings,
                 const settings& with) {
  table results;
  for (const std::string& name : with.strategies) {
    for (const recorded_space& space : spaces) results[name][space.name()];
  }
  const std::size_t jobs = spaces.size() * with.strategies.size() * with.seeds;
  std::atomic<std::size_t> next{0};
  std::mutex adding;
  const auto work = [&] {
    for (std::size_t job = next++; job < jobs; job = next++) {
      const std::size_t at = job / with.seeds % spaces.size();
      const std::string& name = with.strategies[job / with.seeds / spaces.size()];
      std::unique_lock<std::mutex> held(adding, std::defer_lock);
      search(
          spaces[at], scorings[at], name, with.first_seed + job % with.seeds, with,
          [&] { held.lock(); }, results.at(name).at(spaces[at].name()));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, with.threads); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::vector<simulated_step> steps_of(const nlohmann::json& run) {
  std::vector<simulated_step> steps;
  double now = 0;
  for (const auto& evaluation : run) {
    now += evaluation[0].get<double>();
    simulated_step step;
    step.finished_ms = now;
    if (evaluation[1].is_number()) step.score_ms = evaluation[1].get<double>();
    steps.push_back(step);
  }
  return steps;
}

void read_traces(const std::string& file, const std::vector<recorded_space>& spaces,
                 const settings& with, table& into) {
  std::ifstream stream(file);
  for (const auto& entry : nlohmann::json::parse(stream)) {
    const std::string name = entry["file"].get<std::string>();
    for (const recorded_space& space : spaces) {
      if (name.substr(0, name.find('.')) != space.name()) continue;
      const scoring by = make_scoring(space, with);
      summary& row = into["kernel_tuner " + entry["strategy"].get<std::string>()][space.name()];
      for (const auto& run : entry["runs"]) row.add(row.scores.size(), by, steps_of(run), 0);
    }
  }
}

void print(const std::string& strategy, const std::map<std::string, summary>& row, bool curves) {
  fmt::print("\n{:32} {:>15} {:>8} {:>8} {:>8} {:>8} {:>12}\n", strategy, "score", "optimal",
             "above", "early", "trials", "us/proposal");
  double sum = 0;
  double worst = 1;
  double above = 0;
  for (const auto& [space, cell] : row) {
    const auto runs = static_cast<double>(cell.scores.size());
    fmt::print("{:32} {:6.3f} +- {:5.3f} {:7.0f}% {:7.1f}% {:7.0f}% {:8.0f} {:12.0f}\n", space,
               cell.mean(), cell.half_interval(), 100 * static_cast<double>(cell.optimal) / runs,
               100 * cell.above / runs, 100 * static_cast<double>(cell.early) / runs,
               static_cast<double>(cell.proposals) / runs,
               cell.own_us / static_cast<double>(std::max<std::size_t>(cell.proposals, 1)));
    sum += cell.mean();
    worst = std::min(worst, cell.mean());
    above = std::max(above, cell.above / runs);
    if (!curves) continue;
    for (std::size_t i = 0; i < cell.curve.size(); i += 3) {
      fmt::print(" {:6.2f}", cell.curve[i] / runs);
    }
    fmt::print("\n");
  }
  fmt::print("{:32} {:6.3f}, the worst {:.3f}; at most {:.1f}% above an optimum\n", "mean",
             sum / static_cast<double>(row.size()), worst, 100 * above);
}

void save(const table& results, const std::string& file) {
  nlohmann::json all;
  for (const auto& [strategy, row] : results) {
    for (const auto& [space, cell] : row) {
      for (const auto& [seed, score] : cell.scores) {
        all[strategy][space][std::to_string(seed)] = score;
      }
    }
  }
  std::ofstream(file) << all.dump(1) << '\n';
}

/// Prints the improvement of this row over saved scores of the same spaces and seeds.
void compare(const std::string& strategy, const std::map<std::string, summary>& row,
             const nlohmann::json& saved) {
  fmt::print("\n{}, less what was saved\n", strategy);
  double sum = 0;
  double variance = 0;
  std::size_t spaces = 0;
  for (const auto& [space, cell] : row) {
    if (!saved.contains(space)) continue;
    std::vector<double> differences;
    for (const auto& [seed, score] : cell.scores) {
      const auto other = saved[space].find(std::to_string(seed));
      if (other != saved[space].end()) differences.push_back(score - other->get<double>());
    }
    if (differences.size() < 2) continue;
    const auto count = static_cast<double>(differences.size());
    double mean = 0;
    for (const double one : differences) mean += one / count;
    double squares = 0;
    for (const double one : differences) squares += (one - mean) * (one - mean);
    const double error = std::sqrt(squares / (count - 1) / count);
    fmt::print("{:32} {:+6.3f} +- {:5.3f} of {} seeds\n", space, mean, error, differences.size());
    sum += mean;
    variance += error * error;
    ++spaces;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(spaces, 1));
  fmt::print("{:32} {:+6.3f} +- {:5.3f}\n", "mean", sum / count, std::sqrt(variance) / count);
}

void compare_all(const table& results, const settings& with) {
  std::ifstream stream(with.against);
  const auto saved = nlohmann::json::parse(stream);
  for (const auto& [strategy, row] : results) {
    const std::string other = with.as.empty() ? strategy : with.as;
    if (saved.contains(other)) compare(strategy, row, saved[other]);
  }
}

void run(const settings& with) {
  std::vector<recorded_space> spaces;
  for (const std::string& file : with.files) {
    spaces.push_back(tune::read_recording(std::filesystem::path(file)));
  }
  for (const std::uint64_t seed : with.synthetic) {
    for (recorded_space& space : bench::synthetic_spaces(seed)) spaces.push_back(std::move(space));
  }
  std::erase_if(spaces, [&](const recorded_space& space) {
    return space.name().find(with.only) == std::string::npos;
  });
  std::vector<scoring> scorings;
  for (const recorded_space& space : spaces) {
    const scoring& by = scorings.emplace_back(make_scoring(space, with));
    const random_baseline& baseline = by.baseline();
    fmt::print(
        "{}: {} configurations, optimum {:.4g} ms, median {:.4g} ms, budget {:.0f} s or {:.0f} "
        "evaluations of random search\n",
        space.name(), space.size(), baseline.optimum_ms(), baseline.median_ms(),
        by.budget_ms() * 1e-3, baseline.evaluations_to(baseline.target_ms(0.95)));
  }
  std::fflush(stdout);
  table results = search_all(spaces, scorings, with);
  for (const std::string& file : with.traces) read_traces(file, spaces, with, results);
  for (const auto& [name, row] : results) print(name, row, with.curves);
  if (!with.save.empty()) save(results, with.save);
  if (!with.against.empty()) compare_all(results, with);
}

}  // namespace

int main(int argc, char** argv) {
  settings with;
  with.strategies = tune::strategy_names();
  CLI::App app("Scores search strategies on recorded measurements");
  app.add_option("files", with.files, "recordings to search");
  app.add_option("--strategies", with.strategies, "which ones")->delimiter(',');
  app.add_option("--seeds", with.seeds, "searches of each space by each strategy");
  app.add_option("--threads", with.threads, "searches at the same time");
  app.add_option("--first-seed", with.first_seed, "the first of the seeds");
  app.add_option("--synthetic", with.synthetic, "imagined devices to add, by seed")->delimiter(',');
  app.add_option("--only", with.only, "only spaces with this in their name");
  app.add_option("--ahead", with.ahead, "proposals before the first answer");
  app.add_option("--traces", with.traces, "searches of others to add")->delimiter(',');
  app.add_option("--save", with.save, "a file for the score of each seed");
  app.add_option("--against", with.against, "a file of such scores to compare with");
  app.add_option("--as", with.as, "the strategy there, if not of the same name");
  app.add_flag("--by-evaluations", with.by_evaluations, "every evaluation costs the same");
  app.add_flag("--valid-only", with.valid_only, "random search knows what fails");
  app.add_flag("--whole", with.whole, "to the end of the default search");
  app.add_flag("--early-end", with.early_end, "strategies may end before a limit");
  app.add_flag("--curves", with.curves, "print the score over time too");
  CLI11_PARSE(app, argc, argv);
  try {
    run(with);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 1;
  }
  return 0;
}
