// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: how many configurations of kernels that take milliseconds are tried in ten seconds, and
// how good is the best of them?
//
// Four kernels (slow_subjects.hpp) are tuned with the default strategy for each given time, without
// database and without cached programs, in this process. Reported: the tried and the measured
// configurations, the seconds spent at the device, waiting for compilers and idle, and the winner,
// whose time is measured with those of the other budgets in turn: 15 rounds of 3 runs, medians.
// Where cuBLAS is, the product is timed beside it in the same rounds, in full single precision.
//
//   slow_kernels_bench [--seconds 10 120] [--only product] [--small] [--backend CUDA]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/slow/slow_subjects.hpp"
#include "libtune/libtune.hpp"
#ifdef LIBTUNE_BENCH_CUBLAS
#include "bench/operations/gemm_peer.hpp"
#endif

namespace {

using seconds = std::chrono::duration<double>;

struct arguments {
  std::vector<double> seconds{10};
  std::string only;
  std::string backend = "CUDA";
  std::string strategy;
  bool small = false;
};

/// Keeps the last completed search.
class search_keeper final : public tune::observer {
 public:
  void search_finished(const tune::search_finished_event& event) override { last = event; }
  tune::search_finished_event last;
};

struct contender {
  std::string name;
  tune::measure timed;
  std::vector<double> rounds{};
};

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}

void print_search(const std::string& name, double budget, const tune::search_finished_event& done) {
  const auto count = [&](auto&& which) { return std::ranges::count_if(done.trials, which); };
  const auto measured = count([](const tune::trial& t) { return t.score.has_value(); });
  const auto dropped = count([](const tune::trial& t) { return t.dropped; });
  double of_trials = 0;
  double preparing = 0;
  double of_samples = 0;
  for (const tune::trial& item : done.trials) {
    of_trials += seconds(item.elapsed).count();
    preparing += seconds(item.preparation).count();
    for (const tune::run_time time : item.samples.times()) of_samples += time.count() * 1e-9;
  }
  const tune::search_times& times = done.times;
  fmt::print(
      "{:13} {:6.0f} s: {:5} tried, {:5} measured, {:5} of them dropped; took {:.2f} s: at "
      "the device {:.2f}, waiting {:.2f}, idle {:.2f}; trials {:.2f}, of it preparing {:.2f}, "
      "samples {:.2f}; best "
      "{:.1f} us\n",
      name, budget, done.trials.size(), measured, dropped, seconds(done.elapsed).count(),
      seconds(times.measuring).count(), seconds(times.waiting).count(), seconds(times.idle).count(),
      of_trials, preparing, of_samples,
      done.best ? done.trials[*done.best].score->count() / 1e3 : 0.0);
  for (const std::string& doubt : done.doubts) fmt::print("    doubt: {}\n", doubt);
  std::fflush(stdout);
}

void time_in_turn(const std::string& name, std::vector<contender>& contenders) {
  constexpr int rounds = 15;
  constexpr int runs = 3;
  for (int round = -1; round < rounds; ++round) {
    for (contender& each : contenders) {
      each.timed.repeat(1);
      const tune::samples taken(each.timed.sample(runs));
      if (round >= 0) each.rounds.push_back(taken.median().count() / 1e3);
    }
  }
  for (contender& each : contenders) {
    fmt::print("{:13} {:>12}: {:.1f} us\n", name, each.name, median(each.rounds));
  }
}

#ifdef LIBTUNE_BENCH_CUBLAS
void add_cublas(const tune::tuning_command_queue& queue, std::vector<contender>& contenders) {
  constexpr std::size_t side = 4096;
  const tune::context context = queue.context();
  const tune::array_layout layout(tune::dtype::float32, {side, side});
  const tune::device_array a(context, layout);
  const tune::device_array b(context, layout);
  const tune::device_array c(context, layout);
  tune::command_queue filling = queue;
  for (const auto& each : {a, b, c}) each.zero(filling);
  tune::operations::gemm_key key;
  key.input = key.output = tune::dtype::float32;
  const auto run = peers::cublas_gemm(queue, key, side, side, side, a, b, c, true);
  if (!run) return;
  const auto enqueue = [run, own = queue]() mutable {
    tune::command_queue on = own;
    on.enqueue_foreign(run);
  };
  contenders.push_back({"cublas", tune::make_measure(queue, enqueue)});
}
#endif

void tune_one(const arguments& given, const tune::context& context,
              const bench::slow_subject& subject) {
  const auto queue = context.create_tuning_command_queue();
  tune::workload work(queue);
  subject.fill(work);
  std::vector<contender> contenders;
  for (const double budget : given.seconds) {
    const auto keeper = std::make_shared<search_keeper>();
    tune::tuning_options options{.given_by = tune::option_source::command};
    options.database = "";
    options.strategy = given.strategy;
    options.budget = tune::tuning_budget{};
    options.budget->time = std::chrono::duration_cast<std::chrono::nanoseconds>(seconds(budget));
    options.observers.push_back(keeper);
    const tune::tuned_kernel best = subject.kernel.tune(context, options);
    print_search(subject.name, budget, keeper->last);
    fmt::print("    {}\n", tune::to_string(best.best().values()));
    auto op =
        std::make_shared<tune::bare_operation>(subject.kernel.instantiate(queue, best.best()));
    work.bind(*op);
    contenders.push_back(
        {fmt::format("after {:.0f} s", budget), tune::make_measure(queue, [op] { op->run(); })});
  }
#ifdef LIBTUNE_BENCH_CUBLAS
  if (subject.name == "product" && !given.small && given.backend == "CUDA") {
    add_cublas(queue, contenders);
  }
#endif
  time_in_turn(subject.name, contenders);
  std::fflush(stdout);
}

void run(const arguments& given) {
  for (const tune::device& device : tune::all_devices()) {
    if (device.info().backend != given.backend) continue;
    const tune::context context = device.create_context();
    fmt::print("{} ({})\n", device.name(), device.info().backend);
    for (const bench::slow_subject& subject : bench::slow_subjects(given.small)) {
      if (given.only.empty() || given.only == subject.name) tune_one(given, context, subject);
    }
    return;
  }
  fmt::print("there is no device of {}\n", given.backend);
}

}  // namespace

int main(int count, char** values) {
  try {
    CLI::App app("Tunes kernels that take milliseconds.");
    arguments given;
    app.add_option("--seconds", given.seconds, "budgets of the searches, in seconds");
    app.add_option("--only", given.only, "one of the kernels");
    app.add_option("--backend", given.backend, "CUDA or OpenCL");
    app.add_option("--strategy", given.strategy, "instead of the default one");
    app.add_flag("--small", given.small, "problems that suit a CPU");
    CLI11_PARSE(app, count, values);
    run(given);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "slow_kernels_bench: {}\n", failure.what());
    return 1;
  }
}
