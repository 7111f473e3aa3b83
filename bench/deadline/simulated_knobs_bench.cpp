// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <iostream>
#include <mutex>
#include <thread>

#include "bench/deadline/simulated_pipeline.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"

using bench::simulated_pipeline;

namespace {
constexpr double truth_seconds = 100;

bool keeps(simulated_pipeline& of, std::size_t c, double rate, double late) {
  const int heaps = simulated_pipeline::heaps[c / 16];
  const double frames = truth_seconds * rate / heaps;
  const auto most = static_cast<std::size_t>(late * frames);
  const auto record = of.run(c, {rate, std::chrono::duration<double>(truth_seconds)}, 0.0, most);
  std::size_t n = 0;
  for (double each : record.latencies()) n += each > of.deadline() ? 1 : 0;
  return n <= most;
}

double late_at(simulated_pipeline& of, std::size_t c, double rate) {
  const auto record = of.run(c, {rate, std::chrono::duration<double>(truth_seconds)}, 0.0);
  std::size_t n = 0;
  for (double each : record.latencies()) n += each > of.deadline() ? 1 : 0;
  return static_cast<double>(n) / static_cast<double>(record.latencies().size());
}

double true_rate(simulated_pipeline& of, std::size_t c, double late) {
  double low = 0, high = of.run(c, {0, std::chrono::duration<double>(1)}, 0.0).units() * 1.3;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (keeps(of, c, middle, late) ? low : high) = middle;
  }
  return low;
}
}  // namespace

int main(int argc, char** argv) {
  int seeds = 20;
  unsigned threads = 2;
  double budget = 90;
  bool verbose = false;
  CLI::App app;
  app.add_option("--seeds", seeds);
  app.add_option("--threads", threads);
  app.add_option("--budget", budget);
  app.add_flag("--verbose", verbose);
  CLI11_PARSE(app, argc, argv);
  std::atomic<int> next{0}, good{0}, none{0};
  std::mutex out;
  std::vector<double> losses;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (int seed = next++; seed < seeds; seed = next++) {
        simulated_pipeline made(static_cast<std::uint64_t>(seed) + 1);
        const tune::pipeline_goal goal{.deadline = std::chrono::duration<double>(made.deadline())};
        std::vector<std::size_t> numbers(simulated_pipeline::count);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
        int runs = 0;
        const auto result = tune::find_best_pipeline(
            goal, numbers, {.budget = std::chrono::duration<double>(budget)},
            [&](std::size_t c, const tune::pipeline_load& load) {
              ++runs;
              return std::optional(made.run(c, load));
            });
        const double allowed = std::max(goal.late, result.late_allowed);
        const std::size_t chosen = result.standings.front().configuration;
        const double own = true_rate(made, chosen, allowed);
        double best = own;
        std::size_t best_c = chosen;
        for (std::size_t c : numbers) {
          if (!keeps(made, c, best * 1.005, allowed)) continue;
          const double r = true_rate(made, c, allowed);
          if (r > best) best = r, best_c = c;
        }
        const double loss = best > 0 ? 1 - own / best : 0;
        const std::lock_guard lock(out);
        losses.push_back(loss);
        if (loss <= 0.02) ++good;
        if (!result.has_winner) ++none;
        if (verbose || loss > 0.02) {
          std::cout << fmt::format(
                           "seed {} loss {:.3f} chosen {} true {:.1f} (claimed {:.1f}) best {} "
                           "{:.1f} spent {:.1f} "
                           "runs {} late at 0.98 of the best {:.5f}\n",
                           seed, loss, chosen, own, result.standings.front().kept_rate, best_c,
                           best, result.spent.count(), runs, late_at(made, chosen, 0.98 * best))
                    << std::flush;
        }
      }
    });
  }
  for (auto& each : all) each.join();
  std::ranges::sort(losses);
  std::cout << fmt::format(
      "{} of {} within 2 %, {} without a winner; median loss {:.4f}, 95 % {:.4f}\n", good.load(),
      seeds, none.load(), losses[losses.size() / 2], losses[losses.size() * 95 / 100]);
}
