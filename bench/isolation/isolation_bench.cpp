// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Question: what does a search in a child process cost more than one here, and are its times the
// same?
//
// A kernel with only a chain of dependent multiply-adds is tuned on each device over the length of
// the chain, 8 configurations, once in this process and once in a child, in turn, each time by
// force. A function that runs nothing is tuned too: its searches take only the time of the process.
// The first round, which compiles, does not count. Reported: the medians of the wall-clock time of
// a call and of their differences in pairs, with the quartiles of these.
//
// To compare the measured times, the same kernel is tuned over 8 nearly equal lengths, so that the
// search measures all of them well, with enough items that a launch takes 0.1 ms or more: here, in
// a child, and here again. The child's times are compared with the means of the searches before
// and after it, and these with each other, because the difference of two searches in one process
// limits the resolution. The median over configurations is one round's ratio; reported are the
// median and the quartiles over the rounds.
//
//   isolation_bench [rounds]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libtune/child/serve_if_worker.hpp"
#include "libtune/libtune.hpp"

namespace chain {

struct key {
  int items = 1 << 16;
  bool alike = false;  // all configurations take about the same time
};
struct tuning {
  int wgs = 64;
  int length = 1000;
};

}  // namespace chain

LIBTUNE_FIELDS(chain::key, items, alike)
LIBTUNE_FIELDS(chain::tuning, wgs, length)

namespace {

const tune::kernel_source source{"chain.kernel", R"(
KERNEL REQD_WORK_GROUP_SIZE(wgs, 1, 1)
void chain(GLOBAL float* data, float factor) {
  float x = data[get_global_id(0)];
  for (uint i = 0; i < length; ++i) x = fma(x, factor, 1.0f);
  data[get_global_id(0)] = x;
})"};

class chain_operation final : public tune::operation {
 public:
  chain_operation(const tune::command_queue& queue, const chain::tuning& tuned, std::size_t items)
      : operation(queue),
        kernel_(
            tune::compile(queue.context(), source, tune::defines(tuned)).create_kernel("chain")),
        data_(add_slot("data", {items}, tune::dtype::float32)),
        range_{{items}, {static_cast<std::size_t>(tuned.wgs)}} {}

 private:
  void do_run() override { enqueue(kernel_, range_, data_, 0.5F); }

  tune::kernel kernel_;
  tune::io_slot& data_;
  tune::nd_range range_;
};

tune::space<chain::tuning> make_space(const chain::key& key) {
  tune::space<chain::tuning> space;
  space.add(&chain::tuning::wgs, {64});
  if (key.alike) {
    space.add(&chain::tuning::length, {4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007});
  } else {
    // Different enough that no long measurement is needed to separate one from the best.
    space.add(&chain::tuning::length, {1000, 1300, 1700, 2200, 2900, 3800, 5000, 6500});
  }
  return space;
}

const tune::autotuner<chain::key, chain::tuning> autotune{
    {.name = "isolation_bench.chain"}, [](tune::tuning_session& session, const chain::key& key) {
      return session.tune(make_space(key), [&](const chain::tuning& tuned) -> tune::measure {
        auto queue = session.context().create_tuning_command_queue();
        chain_operation operation(queue, tuned, static_cast<std::size_t>(key.items));
        operation.ensure_all_bound();
        operation.buffer("data").zero(queue);
        return tune::make_measure(queue, std::move(operation));
      });
    }};

/// An autotuner with the same space, whose configurations report times without running.
const tune::autotuner<chain::key, chain::tuning> autotune_nothing{
    {.name = "isolation_bench.nothing"}, [](tune::tuning_session& session, const chain::key& key) {
      return session.tune(make_space(key), [](const chain::tuning& tuned) {
        return tune::make_measure([time = tuned.length * 1e-9](int) { return time; });
      });
    }};

/// The times of one search, by configuration.
class score_keeper final : public tune::observer {
 public:
  std::map<std::string, double> scores;
  void search_finished(const tune::search_finished_event& event) override {
    for (const tune::trial& made : event.trials) {
      if (made.score) scores[to_string(made.configuration)] = made.score->count();
    }
  }
};

struct one_search {
  double seconds = 0;
  std::map<std::string, double> scores;
};

one_search search(const tune::autotuner<chain::key, chain::tuning>& tuner,
                  const tune::context& context, const chain::key& key, const std::string& database,
                  tune::isolation_mode where) {
  const auto kept = std::make_shared<score_keeper>();
  tune::tuning_options options;
  options.database = database;
  options.mode = tune::tuning_mode::force;
  options.given_by = tune::option_source::command;
  options.isolation = where;
  options.observers = {kept};
  // An unsteady device would be measured repeatedly, which is not the question here.
  options.race.drift.repeats = 0;
  options.race.final_time = std::chrono::milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(tuner(context, key, options));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {elapsed.count(), kept->scores};
}

constexpr auto off = tune::isolation_mode::off;
constexpr auto on = tune::isolation_mode::on;

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(
      std::lround(part * static_cast<double>(values.size() - 1)))];
}

void print_seconds(const char* what, const tune::autotuner<chain::key, chain::tuning>& tuner,
                   const tune::context& context, const chain::key& key, int rounds,
                   const std::string& database) {
  std::vector<double> here, child, more;
  for (int round = 0; round <= rounds; ++round) {
    const double in_process = search(tuner, context, key, database, off).seconds;
    const double isolated = search(tuner, context, key, database, on).seconds;
    if (round == 0) continue;
    here.push_back(in_process);
    child.push_back(isolated);
    more.push_back(isolated - in_process);
  }
  std::printf("  %-28s in process %.3f s, in a child %.3f s, %+.3f s more (%+.3f to %+.3f)\n", what,
              quantile(here, 0.5), quantile(child, 0.5), quantile(more, 0.5), quantile(more, 0.25),
              quantile(more, 0.75));
}

void print_ratios(const tune::context& context, const chain::key& key, int rounds,
                  const std::string& database) {
  std::vector<double> isolated, repeated;
  for (int round = 0; round <= rounds; ++round) {
    auto before = search(autotune, context, key, database, off).scores;
    auto child = search(autotune, context, key, database, on).scores;
    auto after = search(autotune, context, key, database, off).scores;
    if (round == 0) continue;
    std::vector<double> of_child, of_repetition;
    for (const auto& [name, score] : before) {
      if (!child.contains(name) || !after.contains(name)) continue;  // it failed there
      of_child.push_back(child[name] / std::sqrt(score * after[name]));
      of_repetition.push_back(after[name] / score);
    }
    if (of_child.empty()) continue;
    isolated.push_back(quantile(of_child, 0.5));
    repeated.push_back(quantile(of_repetition, 0.5));
  }
  if (isolated.empty()) throw tune::error("no configuration has a time in all searches");
  const auto print = [](const char* what, const std::vector<double>& ratios) {
    std::printf("  %-48s %.4f (%.4f to %.4f)\n", what, quantile(ratios, 0.5),
                quantile(ratios, 0.25), quantile(ratios, 0.75));
  };
  print("times measured, child / in process:", isolated);
  print("times measured, in process again / in process:", repeated);
}

void compare_on(const tune::device& device, int rounds, const std::string& database) {
  const tune::context context = device.create_context();
  const bool on_cpu = device.kind() == tune::device_kind::cpu;
  std::printf("%s, %s\n", device.info().backend.c_str(), device.name().c_str());
  const chain::key small{.items = on_cpu ? 1 << 12 : 1 << 16};
  print_seconds("nothing is run", autotune_nothing, context, small, rounds, database);
  print_seconds("kernels are run", autotune, context, small, rounds, database);
  const std::size_t items = on_cpu ? device.limits().compute_units << 11 : 1 << 20;
  const chain::key large{.items = static_cast<int>(items), .alike = true};
  print_ratios(context, large, rounds, database);
}

}  // namespace

int main(int argc, char** argv) {
  tune::serve_if_worker(argc, argv);
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 11;
  const auto folder = std::filesystem::temp_directory_path() / "libtune_isolation_bench";
  std::filesystem::create_directories(folder);
  for (const tune::device& device : tune::all_devices()) {
    try {
      compare_on(device, rounds, (folder / "tuning.db").string());
    } catch (const tune::error& failure) {  // other devices may work
      std::printf("  %s\n", failure.what());
    }
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
}
