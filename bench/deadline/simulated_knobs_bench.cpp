// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how good are the knobs that a contest finds, beside the best ones?
//
// Simulated pipelines (simulated_pipeline.hpp), each with 80 configurations and a machine of its
// own, are tuned for the highest rate with at most one late frame in 1000. Then runs of 300 s each,
// with all disturbances that there are, find the rates that the configurations really keep.
// Reported: how many contests found knobs within 2 % of the best rate; in how many more these have
// at most two late frames in 1000 at 0.98 of it, which the frames of a contest hardly tell apart;
// and the quantiles of the loss.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "bench/deadline/simulated_pipeline.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"

namespace {

using bench::simulated_pipeline;
using seconds = std::chrono::duration<double>;

constexpr double truth_seconds = simulated_pipeline::horizon;

struct settings {
  std::size_t pipelines = 100;
  std::size_t first = 0;
  unsigned threads = 2;
  double budget = 100;
  bool shows_all = false;
};

/// Counts late frames; of a run that has more than the limit perhaps not all.
double late_part(simulated_pipeline& of, std::size_t configuration, double rate, double limit = 1) {
  const double frames = truth_seconds * rate / simulated_pipeline::units_of(configuration);
  const auto most = static_cast<std::size_t>(limit * frames);
  const tune::frame_record record =
      of.run(configuration, {.rate = rate, .duration = seconds(truth_seconds)}, 0.0, most);
  const auto late =
      std::ranges::count_if(record.latencies(), [&](double each) { return each > of.deadline(); });
  return static_cast<double>(late) / frames;
}

double true_rate(simulated_pipeline& of, std::size_t configuration, double late) {
  double low = 0;
  double high = 1.3 * of.run(configuration, {.duration = seconds(1)}, 0.0).units();
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (late_part(of, configuration, middle, late) <= late ? low : high) = middle;
  }
  return low;
}

struct outcome {
  double loss = 0;          // of rate
  double late_at_best = 0;  // the part of late frames at 0.98 of the best rate
};

outcome judge(std::size_t number, const settings& given) {
  simulated_pipeline made(number + 1);
  const tune::pipeline_goal goal{.deadline = seconds(made.deadline())};
  std::vector<std::size_t> all(simulated_pipeline::count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const tune::contest_result found =
      tune::find_best_pipeline(goal, all, {.budget = seconds(given.budget)},
                               [&](std::size_t configuration, const tune::pipeline_load& load) {
                                 return std::optional(made.run(configuration, load));
                               });
  const std::size_t chosen = found.standings.front().configuration;
  const double own = true_rate(made, chosen, found.late_allowed);
  double best = own;
  for (const std::size_t each : all) {
    if (late_part(made, each, 1.005 * best, found.late_allowed) > found.late_allowed) continue;
    best = std::max(best, true_rate(made, each, found.late_allowed));
  }
  return {.loss = best > 0 ? 1 - own / best : 0,
          .late_at_best = late_part(made, chosen, 0.98 * best)};
}

}  // namespace

int main(int argc, char** argv) {
  settings given;
  CLI::App app("Tunes simulated pipelines, and compares with the best.");
  app.add_option("--pipelines", given.pipelines)->capture_default_str();
  app.add_option("--first", given.first, "the number of the first one")->capture_default_str();
  app.add_option("--threads", given.threads)->capture_default_str();
  app.add_option("--budget", given.budget, "seconds of a contest, by the virtual clock")
      ->capture_default_str();
  app.add_flag("--all", given.shows_all, "print each pipeline, not only losses above 2 %");
  CLI11_PARSE(app, argc, argv);

  std::atomic<std::size_t> next{given.first};
  std::mutex mutex;
  std::vector<outcome> outcomes;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < given.threads; ++i) {
    workers.emplace_back([&] {
      for (std::size_t n = next++; n < given.first + given.pipelines; n = next++) {
        const outcome one = judge(n, given);
        const std::lock_guard lock(mutex);
        outcomes.push_back(one);
        if (given.shows_all || one.loss > 0.02) {
          fmt::print("pipeline {}: {:.2f} % below the best rate; {:.5f} late at 0.98 of it\n", n,
                     100 * one.loss, one.late_at_best);
        }
      }
    });
  }
  for (std::thread& each : workers) each.join();

  std::ranges::sort(outcomes, {}, &outcome::loss);
  const auto good = std::ranges::count_if(outcomes, [](auto& one) { return one.loss <= 0.02; });
  const auto near = std::ranges::count_if(
      outcomes, [](auto& one) { return one.loss > 0.02 && one.late_at_best <= 0.002; });
  const auto quantile = [&](double part) {
    const auto at = static_cast<std::size_t>(part * static_cast<double>(outcomes.size()));
    return 100 * outcomes[std::min(at, outcomes.size() - 1)].loss;
  };
  fmt::print(
      "{} of {} within 2 % of the best rate, and {} more with at most 2 late frames in 1000 at "
      "0.98 "
      "of it; loss: half {:.2f} %, 90 % {:.2f} %, 95 % {:.2f} %, 99 % {:.2f} %\n",
      good, outcomes.size(), near, quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99));
}
